const PAGES = { summary: summaryPage, runs: runsPage, run: runPage, compare: comparePage, tables: tablesPage, figures: figuresPage, search: searchPage, about: aboutPage };
const LISTED = [["summary", "Summary"], ["runs", "Runs"], ["tables", "Tables"], ["figures", "Figures"], ["search", "Search"], ["about", "About"]];
const POLL_MILLISECONDS = 1500;
let current = null;
let turn = 0;

async function render() {
  const place = here();
  const mine = ++turn;
  let page;
  try {
    page = await (PAGES[place.page] || PAGES.summary)(place);
  } catch (error) {
    page = { title: "Error", update: () => {}, element: make("p", { class: "notice", role: "alert" }, `This page can't be shown: ${error.message}`) };
  }
  if (mine !== turn) return;
  current = page;
  fill(document.getElementById("pages"), LISTED.map(([name, text]) => make("a", { href: address(name), "aria-current": name === place.page ? "page" : null }, text)));
  fill(document.getElementById("main"), page.element);
  document.title = `${visible(page.title)} · ${visible(study.title)}`;
}

async function moved() {
  if (location.hash === "#main") return;
  await render();
  document.getElementById("main").focus({ preventScroll: true });
  if (!here().query.get("step")) window.scrollTo(0, 0);
}

async function follow() {
  let before = study.runs ? rows().filter((row) => row.finished_at).length : 0;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    try {
      if (!(await refresh())) continue;
      const now = rows().filter((row) => row.finished_at).length;
      say(now > before ? `${now - before} new ${now - before === 1 ? "result" : "results"} at ${new Date().toLocaleTimeString()}` : "");
      before = now;
      await current.update();
    } catch (error) {
      say(`not following at the moment: ${error.message}`);
    }
  }
}

async function start() {
  if (study.live) await refresh();
  await render();
  if (here().query.get("step") === null) window.scrollTo(0, 0);
  window.addEventListener("hashchange", moved);
  if (study.live) follow();
}

start().catch((error) => fill(document.getElementById("main"), make("p", { class: "notice", role: "alert" }, `This page can't be shown: ${error.message}`)));
