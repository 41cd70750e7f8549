"""Curves through few points: success against attempts and against budget; no model is right everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

REACH = 4  # how many times the runs at hand a curve may be drawn on to


@dataclass(frozen=True)
class BetaBinomial:
    """Tasks' rates follow Beta(alpha, beta); a share of tasks may be impossible."""

    alpha: float
    beta: float
    likelihood: float
    impossible: float = 0.0

    def pass_at(self, k: npt.ArrayLike) -> npt.NDArray[np.float64]:
        missed = _beta_ratio(self.alpha, self.beta, 0.0, np.asarray(k, float))
        return (1 - self.impossible) * (1 - missed)

    def pass_all(self, k: npt.ArrayLike) -> npt.NDArray[np.float64]:
        return (1 - self.impossible) * _beta_ratio(self.alpha, self.beta, np.asarray(k, float), 0.0)


def _beta_ratio(alpha: float, beta: float, more: npt.ArrayLike, less: npt.ArrayLike) -> npt.NDArray[np.float64]:
    return np.exp(special.betaln(alpha + np.asarray(more), beta + np.asarray(less)) - special.betaln(alpha, beta))


def fit_beta_binomial(
    totals: Sequence[int], passes: Sequence[float], inflated: bool = False, start: BetaBinomial | None = None
) -> BetaBinomial:
    """Fit by maximum likelihood; `inflated` adds a share of impossible tasks.

    With `start`, the fit to nearly the same tasks, it looks only near there and to fewer digits: for bootstraps.
    """
    from scipy.optimize import minimize

    loss = _beta_binomial_loss(totals, passes, inflated)
    bounds = [(-6.0, 6.0)] * 2 + ([(-9.0, 9.0)] if inflated else [])
    points = [[*point, -1.0] if inflated else point for point in ([0.0, 0.0], [-1.0, -1.0], [1.0, 1.0])]
    if start:
        place = [np.log(start.alpha), np.log(start.beta), special.logit(start.impossible)]
        points = [np.clip(place[: len(bounds)], -6.0, 6.0)]
    tried = [minimize(loss, point, method="L-BFGS-B", bounds=bounds) for point in points]
    found = min(tried, key=lambda one: one.fun)
    if not start:  # the gradient by differences stops early; a simplex from there gives the last digits
        exact = {"xatol": 1e-8, "fatol": 1e-12, "maxiter": 2000}
        found = minimize(loss, found.x, method="Nelder-Mead", bounds=bounds, options=exact)
    alpha, beta = (float(value) for value in np.exp(found.x[:2]))
    share = float(special.expit(found.x[2])) if inflated else 0.0
    return BetaBinomial(alpha, beta, -float(found.fun), share)


def _beta_binomial_loss(
    totals: Sequence[int], passes: Sequence[float], inflated: bool
) -> Callable[[npt.NDArray[np.float64]], float]:
    """Return the negative log-likelihood of log alpha, log beta and the logit of the impossible share."""
    cells, counts = np.unique(np.stack((totals, passes)).astype(float), axis=1, return_counts=True)
    n, c = cells
    constant = special.gammaln(n + 1) - special.gammaln(c + 1) - special.gammaln(n - c + 1)

    def loss(point: npt.NDArray[np.float64]) -> float:
        alpha, beta = np.exp(point[:2])
        each = constant + special.betaln(c + alpha, n - c + beta) - special.betaln(alpha, beta)
        if inflated:
            share = special.expit(point[2])
            each = np.log1p(-share) + each
            each = np.where(c == 0, np.logaddexp(each, np.log(share)), each)
        return -float((counts * each).sum())

    return loss


@dataclass(frozen=True)
class PowerLaw:
    """Coverage exp(-a k^-b)."""

    scale: float
    exponent: float

    def pass_at(self, k: npt.ArrayLike) -> npt.NDArray[np.float64]:
        return np.exp(-self.scale * np.asarray(k, float) ** -self.exponent)


def fit_power_law(k: npt.ArrayLike, coverage: npt.ArrayLike) -> PowerLaw | None:
    """Fit by least squares from a log-log start; None with fewer than two points strictly between 0 and 1."""
    from scipy.optimize import least_squares

    attempts, share = np.asarray(k, float), np.asarray(coverage, float)
    inner = (share > 0) & (share < 1)
    if inner.sum() < 2:
        return None
    slope, level = np.polyfit(np.log(attempts[inner]), np.log(-np.log(share[inner])), 1)

    def residual(point: np.ndarray) -> np.ndarray:
        return PowerLaw(float(np.exp(point[0])), float(point[1])).pass_at(attempts) - share

    found = least_squares(residual, [level, -slope], xtol=1e-12, ftol=1e-12, gtol=1e-12)
    return PowerLaw(float(np.exp(found.x[0])), float(found.x[1]))


@dataclass(frozen=True)
class Logistic:
    """Success against log2 of a budget; `half` is the budget at which half the runs pass."""

    intercept: float
    slope: float
    log2_half: float
    log2_half_error: float

    @property
    def half(self) -> float:
        return float(2**self.log2_half)

    def success(self, budget: npt.ArrayLike) -> npt.NDArray[np.float64]:
        return special.expit(self.intercept + self.slope * np.log2(np.asarray(budget, float)))


def fit_logistic(
    budgets: npt.ArrayLike, passed: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Logistic | None:
    """Fit by Newton's method; None where the outcomes can be split at one budget, or don't depend on it."""
    place, outcome = np.log2(np.asarray(budgets, float)), np.asarray(passed, float)
    weight = np.ones_like(outcome) if weights is None else np.asarray(weights, float)
    design = np.stack((np.ones_like(place), place), axis=1)
    point = np.zeros(2)
    for _ in range(50):
        chance = special.expit(design @ point)
        information = (design.T * (weight * chance * (1 - chance))) @ design
        if np.linalg.cond(information) > 1e10 or np.abs(point).max() > 100:
            return None
        step = np.linalg.solve(information, design.T @ (weight * (outcome - chance)))
        point = point + step
        if np.abs(step).max() < 1e-12:
            return _with_half(point, np.linalg.inv(information))
    return None


def _with_half(point: np.ndarray, covariance: np.ndarray) -> Logistic | None:
    intercept, slope = (float(value) for value in point)
    if slope == 0:
        return None
    gradient = np.array([-1 / slope, intercept / slope**2])
    error = float(np.sqrt(gradient @ covariance @ gradient))
    return Logistic(intercept, slope, -intercept / slope, error)
