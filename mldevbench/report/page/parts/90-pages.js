function cards() {
  return make("ul", { class: "cards" }, study.counts.map(([name, value]) => make("li", {}, make("b", {}, value), name)));
}

function summaryPage() {
  const element = make("div");
  const update = () => fill(element, make("h1", {}, study.title), make("p", { class: "soft" }, study.heading), study.notes.map((note) => make("p", { class: "notice" }, note)),
    cards(), study.tables.slice(0, 2).map(printed));
  update();
  return { title: "Summary", update, element };
}

function tablesPage() {
  return { title: "Tables", update: () => {}, element: make("div", {}, make("h1", {}, "Tables"), study.notes.map((note) => make("p", { class: "notice" }, note)), study.tables.map(printed)) };
}

function figureOf(figure) {
  if (!figure.image) return make("section", {}, make("h2", {}, figure.title), make("p", { class: "notice" }, `Not drawn: ${figure.absent}.`));
  const image = make("img", { alt: figure.alt });
  if (figure.image.startsWith("data:image/svg+xml;base64,")) image.src = figure.image;
  const numbers = figure.numbers ? make("details", {}, make("summary", {}, "The numbers"), new SortedTable("", figure.numbers.columns.map((name, place) => ({
    name, key: (row) => row[place], cell: (row) => (row[place] === null ? "–" : row[place]) })), figure.numbers.rows, {}, () => {}).element) : null;
  return make("figure", { id: "figure-" + figure.name }, make("h2", {}, figure.title), image, make("figcaption", {}, figure.alt), numbers);
}

async function figuresPage() {
  say(study.live ? "Drawing…" : "");
  const found = await figures();
  say("");
  return { title: "Figures", update: () => {}, element: make("div", {}, make("h1", {}, "Figures"), found.map(figureOf)) };
}

async function searchPage(place) {
  const words = place.query.get("q") || "";
  const input = make("input", { type: "search", id: "search", value: words });
  const form = make("form", { class: "filters", role: "search", onsubmit: (event) => {
    event.preventDefault();
    location.hash = address("search", [], { q: input.value });
  } }, make("label", {}, "Words in trajectories", input), make("button", {}, "Search"));
  const list = make("div");
  if (words) {
    const found = study.live ? await ask("/data/search?q=" + coded(words)) : searchOwn(words);
    const line = (hit) => make("li", {}, make("a", { href: address("run", [hit.run_id], { attempt: hit.attempt, step: hit.position }) }, `${hit.run_id.slice(0, 8)} step #${hit.number}`),
      ` ${(runOf(hit.run_id) || {}).label || ""} on ${(runOf(hit.run_id) || {}).task || ""}: `, make("code", {}, hit.excerpt));
    fill(list, make("p", { role: "status" }, `${number(found.hits.length)} found in ${number(found.searched)} runs` + (found.cut ? `; stopped early: ${found.cut}` : "")), make("ul", {}, found.hits.map(line)));
  }
  return { title: "Search", update: () => {}, element: make("div", {}, make("h1", {}, "Search trajectories"), form, list) };
}

function searchOwn(words) {
  const hits = [];
  const low = words.toLowerCase();
  for (const [id, kept] of Object.entries(ownDetails().runs)) {
    for (const step of (kept.trajectory ? kept.trajectory.steps : [])) {
      const text = [step.text, step.arguments, step.reasoning].filter(Boolean).join("\n");
      const at = text.toLowerCase().indexOf(low);
      if (at >= 0 && hits.length < 200) hits.push({ run_id: id, attempt: kept.trajectory.attempt, position: step.position, number: step.number, excerpt: text.slice(Math.max(0, at - 60), at + 100) });
    }
  }
  return { hits, searched: Object.values(ownDetails().runs).filter((kept) => kept.trajectory).length, cut: hits.length < 200 ? "" : "200 hits" };
}

function aboutPage() {
  return { title: "About", update: () => {}, element: make("div", {}, make("h1", {}, "How these numbers came about"), make("p", {}, study.methods),
    make("h2", {}, "Where they come from"), make("pre", {}, study.provenance), make("h2", {}, "To cite"), make("pre", {}, study.bibtex)) };
}
