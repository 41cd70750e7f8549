const STEPS_AT_ONCE = 100;

function stepOf(step, marked) {
  const facts = [step.role, step.tool, step.exit_code === null ? null : "exit " + step.exit_code,
    step.tokens ? number(step.tokens) + " tokens" : null, step.cost_usd ? dollars(step.cost_usd) : null,
    step.seconds ? seconds(step.seconds) : null].filter(Boolean).join(" · ");
  const first = (step.arguments || step.text || "").trim().split("\n")[0].slice(0, 120);
  const cut = step.cut ? make("p", { class: "soft" }, `${number(step.cut)} characters left out; the whole text is in the run's files`) : null;
  return make("details", { class: `step ${step.role === "model" ? "model" : "act"}${marked ? " found" : ""}`, id: "step-" + step.position,
    open: step.role === "model" || marked },
    make("summary", {}, make("b", {}, `#${step.number} `), facts, first ? make("span", { class: "soft" }, " — " + first) : null),
    step.reasoning ? [make("h3", {}, "Reasoning"), make("pre", {}, step.reasoning)] : null,
    step.arguments ? make("pre", { "aria-label": "arguments" }, step.arguments) : null,
    step.text ? make("pre", { "aria-label": "text" }, step.text) : null, cut);
}

function chartOf(used) {
  if (used.length < 2) return null;
  const span = Math.max(1e-9, used[used.length - 1][0]);
  const line = (place, style) => {
    const most = Math.max(...used.map((point) => point[place] || 0));
    if (!most) return null;
    const points = used.map((point) => `${(10 + 580 * point[0] / span).toFixed(1)},${(110 - 95 * (point[place] || 0) / most).toFixed(1)}`);
    return drawn("polyline", { points: points.join(" "), class: style });
  };
  const last = used[used.length - 1];
  const said = `Over ${seconds(last[0])}: ${number(last[1])} steps, ${number(last[2])} tokens, ${dollars(last[3])}`;
  const parts = [drawn("title", {}, said), line(2, "first"), line(3, "second"), drawn("text", { x: 10, y: 130 }, "0"), drawn("text", { x: 520, y: 130 }, seconds(last[0]))];
  const chart = drawn("svg", { class: "chart", viewBox: "0 0 600 136", role: "img", "aria-label": said });
  chart.append(...parts.filter(Boolean));
  return make("figure", {}, chart, make("figcaption", {}, said + "; solid: tokens, dashed: dollars"));
}

// The trajectory of one attempt; grows by pages, and by itself while the run goes on.
class Trajectory {
  constructor(id, attempt, detail, marked) {
    Object.assign(this, { id, attempt, detail, marked, from: 0 });
    this.list = make("div");
    this.chart = make("div");
    this.more = make("p", { class: "filters" });
    const fold = (open) => make("button", { type: "button", onclick: () => {
      for (const step of this.list.querySelectorAll("details")) step.open = open;
    } }, open ? "Unfold all" : "Fold all");
    this.element = make("section", {}, make("h2", {}, `Trajectory of attempt ${attempt}`), this.chart,
      make("p", { class: "filters" }, fold(true), fold(false)), this.list, this.more);
  }

  async load(all) {
    const found = await stepsOf(this.id, this.attempt, this.detail, this.from, all ? 1e6 : Math.max(STEPS_AT_ONCE, (this.marked || 0) + 10 - this.from));
    if (!found) {
      fill(this.list, make("p", {}, "This file holds no trajectories. See them with: mldevbench view STUDY, or report --html FILE --trajectories"));
      return;
    }
    if (!found.total) fill(this.list, make("p", { class: "soft" }, "No step is stored."));
    else if (!this.from) fill(this.list);
    this.list.append(...found.steps.map((step) => stepOf(step, step.position === this.marked)));
    this.from += found.steps.length;
    fill(this.chart, chartOf(found.used));
    const left = found.total - this.from;
    fill(this.more, left > 0 ? [make("button", { type: "button", onclick: () => this.load(false) }, `Show more (${number(left)} left)`)] : []);
    const target = this.marked === null ? null : this.list.querySelector("#step-" + this.marked);
    if (target && !this.scrolled) {
      target.scrollIntoView({ block: "center" });
      this.scrolled = true;
    }
  }
}
