"""Search in trajectories: plain words, so many hits, so much time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mldevbench.report.reading import Shown, read_shown
from mldevbench.store.place import Place

MOST_HITS = 200
SECONDS = 20.0


@dataclass(frozen=True)
class Hit:
    run_id: str
    attempt: int
    position: int
    number: int
    excerpt: str


@dataclass(frozen=True)
class Found:
    hits: tuple[Hit, ...]
    searched: int
    cut: str = ""


def search(study: Place, run_ids: Iterable[str], words: str, clock: Callable[[], float] = time.monotonic) -> Found:
    """Return the steps that hold the words, in any case."""
    hits: list[Hit] = []
    low, deadline, searched = words.lower(), clock() + SECONDS, 0
    for run_id in dict.fromkeys(run_ids):
        if clock() > deadline:
            return Found(tuple(hits), searched, f"{SECONDS:.0f} s were over")
        searched += 1
        for attempt in study.names(f"artifacts/{run_id}"):
            if attempt.isdecimal():
                place = study.child(f"artifacts/{run_id}/{attempt}")
                hits += [hit for step in read_shown(place) if (hit := _hit(run_id, int(attempt), step, low))]
        if len(hits) >= MOST_HITS:
            return Found(tuple(hits[:MOST_HITS]), searched, f"{MOST_HITS} hits")
    return Found(tuple(hits), searched)


def _hit(run_id: str, attempt: int, step: Shown, low: str) -> Hit | None:
    text = "\n".join(part for part in (step.text, step.arguments, step.reasoning) if part)
    at = text.lower().find(low)
    if at < 0:
        return None
    return Hit(run_id, attempt, step.position, step.number, text[max(0, at - 60) : at + 100])
