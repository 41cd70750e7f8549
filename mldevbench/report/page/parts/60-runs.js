const RUN_COLUMNS = [
  ["outcome", "status", (row) => make("span", { class: row.status }, status(row.status))],
  ["label", "label"], ["task", "task"], ["category", "category"], ["seed", "seed", null, true],
  ["why", "why"], ["score", "score", (row) => number(row.score, 3), true], ["steps", "steps", (row) => number(row.steps), true],
  ["tokens", "tokens", (row) => number(row.tokens), true], ["cost", "cost_usd", (row) => dollars(row.cost_usd), true],
  ["time", "wall_seconds", (row) => seconds(row.wall_seconds), true], ["attempts", "attempts", (row) => number(row.attempts), true],
  ["node", "node"],
];
const FILTERS = ["status", "label", "task", "category"];

function runColumns(pick) {
  const columns = RUN_COLUMNS.map(([name, field, cell, isNumber]) => ({
    name, number: isNumber, key: (row) => row[field], cell: cell || ((row) => (row[field] === null ? "–" : row[field])),
  }));
  const link = (row) => make("a", { href: address("run", [row.run_id]) }, row.run_id.slice(0, 8));
  columns.unshift({ name: "run", key: (row) => row.run_id, cell: link });
  const other = (row) => (pick && pick !== row.run_id ? address("compare", [pick, row.run_id]) : address("runs", [], { pick: row.run_id }));
  columns.push({ name: "compare", key: () => 0, cell: (row) => make("a", { href: other(row), "aria-label": "compare run " + row.run_id.slice(0, 8) }, pick ? "with this" : "compare") });
  return columns;
}

function wanted(query) {
  const words = (query.get("q") || "").toLowerCase();
  const chosen = FILTERS.filter((name) => query.get(name));
  const text = (row) => [row.run_id, row.label, row.task, row.category, row.status, row.why, row.node].join(" ").toLowerCase();
  return (row) => chosen.every((name) => row[name] === query.get(name)) && (!words || text(row).includes(words));
}

function runsPage(place) {
  const query = place.query;
  const pick = query.get("pick");
  const state = { sort: query.get("sort") || "", down: query.get("down") === "1", page: Number(query.get("page")) || 0 };
  const keep = () => {
    for (const [name, value] of [["sort", state.sort], ["down", state.down ? "1" : ""], ["page", state.page || ""]]) query.set(name, value);
    remember(Object.fromEntries(query));
  };
  const table = new SortedTable("Runs", runColumns(pick), rows().filter(wanted(query)), state, keep);
  const count = make("span", { role: "status" });
  const update = () => {
    const shown = rows().filter(wanted(query));
    count.textContent = `${number(shown.length)} of ${number(rows().length)} runs`;
    table.update(shown);
  };
  const chosen = (name, value) => {
    query.set(name, value);
    state.page = 0;
    update();
    keep();
  };
  const search = make("input", { type: "search", id: "runs-search", value: query.get("q") || "", oninput: () => chosen("q", search.value) });
  const picker = (name) => {
    const values = [...new Set(rows().map((row) => row[name]))].sort(compared);
    const select = make("select", { id: "runs-" + name, onchange: () => chosen(name, select.value) },
      make("option", { value: "" }, "all"), values.map((value) => make("option", { value, selected: value === query.get(name) }, value)));
    return make("label", {}, name === "status" ? "outcome" : name, select);
  };
  update();
  const banner = pick ? make("p", { class: "notice" }, `Comparing run ${pick.slice(0, 8)}: choose the other run below. `, make("a", { href: address("runs") }, "Stop")) : null;
  return { title: "Runs", update, element: make("div", {}, make("h1", {}, "Runs"), make("p", { class: "soft" }, study.heading), banner,
    make("div", { class: "filters" }, make("label", {}, "Search", search), FILTERS.map(picker), count), table.element) };
}
