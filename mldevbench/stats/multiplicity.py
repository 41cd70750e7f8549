"""Corrections for asking many questions: Holm for claims, Benjamini and Hochberg for screening."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values that hold the chance of any false claim."""
    raw = np.asarray(values, float)
    order = np.argsort(raw, kind="stable")
    stepped = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    return _restored(order, stepped)


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Return p-values that hold the expected share of false finds."""
    raw = np.asarray(values, float)
    order = np.argsort(raw, kind="stable")
    scaled = raw[order] * len(raw) / np.arange(1, len(raw) + 1)
    return _restored(order, np.minimum.accumulate(scaled[::-1])[::-1])


def _restored(order: np.ndarray, stepped: np.ndarray) -> list[float]:
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected.tolist()
