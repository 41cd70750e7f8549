const CHECK_COLUMNS = [
  { name: "held", key: (row) => row.passed, cell: (row) => make("span", { class: row.passed ? "passed" : "failed" }, row.passed ? "✓ passed" : "✗ failed") },
  ...["name", "expected", "seen"].map((name) => ({ name: name === "name" ? "check" : name, key: (row) => row[name], cell: (row) => row[name] })),
];
const ATTEMPT_CELLS = { cost_usd: dollars, wall_seconds: seconds, steps: number };

function factsOf(row) {
  const facts = [["agent", row.label], ["task", row.task], ["category", row.category], ["profile", row.profile], ["seed", row.seed],
    ["instance", row.instance], ["budget", row.budget], ["why it ended", row.why], ["score", number(row.score, 3)], ["steps", number(row.steps)],
    ["tokens", number(row.tokens)], ["cost", dollars(row.cost_usd)], ["spent on all attempts", dollars(row.spent_usd)],
    ["wall time", seconds(row.wall_seconds)], ["working time", seconds(row.working_seconds)], ["waited for the model", seconds(row.wait_seconds)],
    ["queued", seconds(row.queue_seconds)], ["judged in", seconds(row.validate_seconds)], ["GPU-seconds", number(row.gpu_seconds, 1)],
    ["node", row.node], ["sandbox", row.isolation], ["started", row.started_at], ["finished", row.finished_at], ["study", row.study]];
  return make("dl", {}, facts.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== "–")
    .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function attemptsOf(row, detail) {
  if (!detail.attempts.length) return make("p", { class: "soft" }, "No attempt is stored.");
  const names = ["attempt", "phase", "outcome", "cause", "stop_reason", "node", "steps", "cost_usd", "wall_seconds", "detail"];
  const columns = names.map((name) => ({ name: name.replace("_", " "), key: (one) => one[name],
    cell: (one) => (one[name] === null ? "–" : ATTEMPT_CELLS[name] ? ATTEMPT_CELLS[name](one[name]) : one[name]) }));
  columns.push({ name: "trajectory", key: () => 0, cell: (one) => make("a", { href: address("run", [row.run_id], { attempt: one.attempt }) }, "show") });
  return new SortedTable("Attempts", columns, detail.attempts, {}, () => {}).element;
}

function artifactsOf(row, detail) {
  if (!study.live) return null;
  const columns = [
    { name: "attempt", key: (one) => one.attempt, cell: (one) => one.attempt },
    { name: "file", key: (one) => one.name, cell: (one) => (one.inside ? one.name : make("a", { href: "/artifact/" + [row.run_id, one.attempt, one.name].map(coded).join("/"), download: "" }, one.name)) },
    { name: "bytes", key: (one) => one.bytes, cell: (one) => number(one.bytes), number: true },
    { name: "kind", key: (one) => one.inside, cell: (one) => (one.inside ? "submitted, in " + one.inside : "stored file") },
  ];
  return [make("h2", {}, "Artifacts"), detail.artifacts.length ? new SortedTable("Artifacts", columns, detail.artifacts, {}, () => {}).element : make("p", { class: "soft" }, "None is stored.")];
}

function headOf(row) {
  return make("h1", {}, make("span", { class: row.status }, status(row.status)), ` ${row.label} on ${row.task}, seed ${row.seed} `, make("small", { class: "soft" }, row.run_id));
}

async function runPart(id, attempt, marked) {
  const row = runOf(id);
  if (!row) return { element: make("p", { class: "notice" }, `There is no run ${id} here.`) };
  const detail = await detailOf(id);
  const last = Math.max(1, row.attempts || 1, ...detail.attempts.map((one) => one.attempt));
  const trajectory = new Trajectory(id, attempt || last, detail, marked);
  await trajectory.load(false);
  const checks = detail.checks.length ? new SortedTable("Checks", CHECK_COLUMNS, detail.checks, {}, () => {}).element : make("p", { class: "soft" }, "Nothing was checked.");
  const element = make("article", {}, headOf(row), factsOf(row), make("h2", {}, "Checks"), checks, make("h2", {}, "Attempts"),
    attemptsOf(row, detail), artifactsOf(row, detail), trajectory.element);
  return { element, row, trajectory };
}

async function runPage(place) {
  const [id] = place.words;
  const step = place.query.get("step");
  const part = await runPart(id, Number(place.query.get("attempt")) || 0, step === null ? null : Number(step));
  const links = make("p", {}, make("a", { href: address("runs") }, "All runs"), " · ", make("a", { href: address("runs", [], { pick: id }) }, "Compare with another run"));
  const update = async () => {
    const now = runOf(id);
    if (part.row && now && now.status !== part.row.status) return render();
    if (part.trajectory && now && now.status === "running") await part.trajectory.load(false);
  };
  return { title: `Run ${id.slice(0, 8)}`, update, element: make("div", {}, links, part.element) };
}

async function comparePage(place) {
  const parts = await Promise.all(place.words.slice(0, 2).map((id) => runPart(id, 0, null)));
  return { title: "Two runs", update: () => {}, element: make("div", {}, make("h1", {}, "Two runs side by side"), make("div", { class: "sides" }, parts.map((part) => part.element))) };
}
