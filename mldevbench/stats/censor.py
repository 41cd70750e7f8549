"""Success by a budget when some runs were cut short from outside: Kaplan and Meier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def success_by(
    budgets: npt.ArrayLike, spent: Sequence[float], passed: Sequence[bool], lost: Sequence[bool], horizon: float
) -> npt.NDArray[np.float64]:
    """Return the share of runs that pass within each budget.

    A lost run (void) counts until it was lost. A run that failed or gave up is held failing to the horizon: it isn't
    cut short, it had its chance.
    """
    at = np.asarray(spent, float)
    event = np.asarray(passed, bool)
    cut = np.asarray(lost, bool)
    until = np.where(event | cut, at, horizon)
    survival, curve = 1.0, []
    moments = np.unique(until[event])
    for moment in moments:
        survival *= 1 - int((event & (until == moment)).sum()) / int((until >= moment).sum())
        curve.append(1 - survival)
    places = np.searchsorted(moments, np.asarray(budgets, float), side="right")
    return np.concatenate(([0.0], curve))[places]
