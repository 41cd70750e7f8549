"""Beyond the runs at hand: pass@k by three models as an envelope, since no model wins everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mldevbench.stats.bootstrap import draw_tasks, percentile
from mldevbench.stats.fit import REACH, BetaBinomial, PowerLaw, fit_beta_binomial, fit_power_law
from mldevbench.stats.interval import Interval
from mldevbench.stats.panel import Panel
from mldevbench.stats.repeat import largest_k, mean_over_tasks

DRAWS = 40
Grid = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ahead:
    """pass@k at one k: what each model says, and the widest of their task-bootstrap intervals."""

    k: int
    models: dict[str, float]
    interval: Interval


@dataclass(frozen=True)
class Envelope:
    """Models fitted up to `solid` attempts and drawn on to `limit`; beyond it there is nothing to say."""

    solid: int
    limit: int
    points: tuple[Ahead, ...]

    def at(self, k: int) -> Ahead:
        for point in self.points:
            if point.k == k:
                return point
        raise ValueError(f"pass@{k} is beyond {self.limit}, {REACH} times the runs at hand")


def envelope(panel: Panel, draws: int = DRAWS) -> Envelope | None:
    """Fit beta-binomial, the same with impossible tasks, and a power law; None with fewer than four seeds."""
    runs = int(panel.totals.min()) if len(panel) else 0
    if runs < 4 or len(panel) < 3:
        return None
    limit = REACH * runs
    ks = sorted({2**power for power in range(int(np.log2(limit)) + 1)} | {limit})
    models = _models(panel)
    curves = {name: model.pass_at(ks) for name, model in models.items()}
    drawn = []
    for chosen in draw_tasks(len(panel), draws):
        again = _models(Panel(tuple(panel.outcomes[task] for task in chosen)), models)
        drawn.append({name: model.pass_at(ks) for name, model in again.items()})
    points = []
    for place, k in enumerate(ks):
        edges = [percentile([one[name][place] for one in drawn if name in one]) for name in curves]
        interval = Interval(min(edge.low for edge in edges), max(edge.high for edge in edges))
        points.append(Ahead(k, {name: float(curve[place]) for name, curve in curves.items()}, interval))
    return Envelope(largest_k(panel.totals.tolist()), limit, tuple(points))


def _models(panel: Panel, near: dict[str, BetaBinomial | PowerLaw] | None = None) -> dict[str, BetaBinomial | PowerLaw]:
    totals, passes = panel.totals.tolist(), panel.passes.tolist()
    models: dict[str, BetaBinomial | PowerLaw] = {}
    for name, inflated in (("beta-binomial", False), ("with impossible tasks", True)):
        start = near[name] if near else None
        assert not isinstance(start, PowerLaw)
        models[name] = fit_beta_binomial(totals, passes, inflated, start)
    seen = list(range(1, min(totals) + 1))
    law = fit_power_law(seen, [mean_over_tasks(totals, [int(one) for one in passes], k)[0] for k in seen])
    return models | ({"power law": law} if law else {})
