// The same page reads from itself (a file) or from the server that gave it (a study that may still run).
const study = JSON.parse(document.getElementById("data").textContent);
let details = null;
let tag = null;

function ownDetails() {
  details = details || JSON.parse(document.getElementById("details").textContent);
  return details;
}

async function ask(path) {
  const response = await fetch(path, { headers: { "X-Mldevbench": "1" } });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}: ${await response.text()}`);
  return response.json();
}

async function refresh() {
  const response = await fetch("/data/study", { headers: tag ? { "If-None-Match": tag, "X-Mldevbench": "1" } : { "X-Mldevbench": "1" } });
  if (response.status === 304) return false;
  if (!response.ok) throw new Error(await response.text());
  tag = response.headers.get("ETag");
  Object.assign(study, await response.json());
  return true;
}

function rows() {
  if (study.unpacked !== study.runs) {
    study.listed = study.runs.rows.map((values) => Object.fromEntries(study.runs.columns.map((name, place) => [name, values[place]])));
    study.byId = new Map(study.listed.map((row) => [row.run_id, row]));
    study.unpacked = study.runs;
  }
  return study.listed;
}

function runOf(id) {
  rows();
  return study.byId.get(id) || null;
}

async function detailOf(id) {
  if (study.live) return ask("/data/run/" + coded(id));
  const all = ownDetails();
  const packed = all.runs[id] || { checks: [], attempts: [] };
  const text = (place) => all.strings[place];
  return {
    checks: packed.checks.map(([name, passed, expected, seen]) => ({ name: text(name), passed: !!passed, expected: text(expected), seen: text(seen) })),
    attempts: packed.attempts.map((values) => Object.fromEntries(all.attempt_columns.map((name, place) => [name, values[place]]))),
    artifacts: [], trajectory: packed.trajectory || null,
  };
}

async function stepsOf(id, attempt, detail, from, count) {
  if (study.live) return ask(`/data/steps/${coded(id)}/${attempt}?from=${from}&count=${count}`);
  const kept = detail.trajectory;
  if (!kept || kept.attempt !== attempt) return null;
  return { total: kept.total, used: kept.used, steps: kept.steps.slice(from, from + count) };
}

async function figures() {
  return study.live ? ask("/data/figures") : study.figures;
}
