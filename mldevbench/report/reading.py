"""Reads trajectories of unknown content for people to look at: nothing in them can stop the reading or fill memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from mldevbench.records import Usage
from mldevbench.reference import PAPER
from mldevbench.report.evidence import Evidence
from mldevbench.store.place import Place
from mldevbench.store.study_store import find_study
from mldevbench.trajectory import from_line

LONGEST_LINE = 8_000_000  # bytes; a step that we wrote ourselves is never longer
LONGEST_TEXT = 20_000  # characters shown of one text
FILE_TEXT, FILE_STEPS = 2_000, 200  # the same in a file that carries all runs
CHUNK = 1 << 20


@dataclass(frozen=True)
class Shown:
    """One step as a page shows it; `cut` counts the characters that are left out."""

    position: int
    number: int
    role: str
    tool: str | None
    arguments: str | None
    text: str
    reasoning: str | None
    exit_code: int | None
    seconds: float
    tokens: int
    cost_usd: float | None
    at: str | None
    cut: int = 0


@dataclass(frozen=True)
class Used:
    """What an attempt had used at a moment, in seconds since its first step."""

    seconds: float
    steps: int
    tokens: int
    usd: float | None


def segment_names(place: Place) -> list[str]:
    return [name for name in place.names() if name.startswith("trajectory-") and name.endswith(".jsonl")]


def read_shown(place: Place, longest: int = LONGEST_TEXT) -> list[Shown]:
    """Read every step of an attempt; a line that is no step is shown as a note."""
    lines = (line for name in segment_names(place) for line in _lines(place, name) if line[1])
    return [_shown(position, line, size, longest) for position, (line, size) in enumerate(lines)]


def _lines(place: Place, name: str) -> Iterator[tuple[bytes, int]]:
    """Yield each line, cut to what may be parsed, with its true size."""
    kept, size = b"", 0
    with place.filesystem.open_input_stream(f"{place.path}/{name}") as stream:
        while chunk := cast(bytes, stream.read(CHUNK)):
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                size += len(line)
                yield (kept + line)[: LONGEST_LINE + 1], size
                kept, size = b"", 0
            size += len(rest)
            kept = (kept + rest)[: LONGEST_LINE + 1]
    if kept:
        yield kept, size


def _shown(position: int, line: bytes, size: int, longest: int) -> Shown:
    text = line.decode("utf-8", errors="replace")
    if size > LONGEST_LINE:
        return _note(position, f"a line of {size:,} bytes, which begins: {text[:LONGEST_TEXT]}", size)
    try:
        step = from_line(text)
        return _of_step(position, step, longest)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return _note(position, f"a line that is no step: {text[:longest]}", max(0, len(text) - longest))


def _of_step(position: int, step: Any, longest: int) -> Shown:
    usage = step.usage if isinstance(step.usage, Usage) else Usage()
    texts = [_cut(value, longest) for value in (step.arguments, step.text, step.reasoning)]
    at = step.at.isoformat(timespec="seconds") if isinstance(step.at, datetime) else None
    return Shown(
        position, int(step.number), str(step.role), None if step.tool is None else str(step.tool), texts[0][0],
        texts[1][0] or "", texts[2][0], None if step.exit_code is None else int(step.exit_code),
        _finite(step.seconds) or 0.0, int(usage.total_tokens), _finite(usage.cost_usd), at,
        sum(cut for _, cut in texts),
    )  # fmt: skip


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _cut(value: object, longest: int) -> tuple[str | None, int]:
    """Keep the beginning and the end, where the news is."""
    if value is None:
        return None, 0
    text = str(value)
    if len(text) <= longest:
        return text, 0
    half = longest // 2
    left = len(text) - 2 * half
    return f"{text[:half]}\n… {left:,} characters …\n{text[-half:]}", left


def _note(position: int, text: str, cut: int) -> Shown:
    return Shown(position, 0, "note", None, None, text, None, None, 0.0, 0, None, None, cut)


def used_over_time(steps: Sequence[Shown], most: int = 400) -> list[Used]:
    """Return what was used after each model call, thinned to so many points."""
    first: datetime | None = None
    found: list[Used] = []
    tokens, usd, known = 0, 0.0, True
    calls = [step for step in steps if step.role == "model" and step.at]
    for number, step in enumerate(calls, 1):
        at = datetime.fromisoformat(cast(str, step.at))
        first = first or at
        tokens += step.tokens
        known = known and step.cost_usd is not None
        usd += step.cost_usd or 0.0
        found.append(Used((at - first).total_seconds(), number, tokens, usd if known else None))
    every = max(1, len(found) // most)
    return [used for place, used in enumerate(found) if place % every == 0 or place == len(found) - 1]


def trajectory_values(attempt: int, steps: Sequence[Shown], most: int) -> dict[str, object]:
    """Return an attempt's steps as a page takes them."""
    used = [[one.seconds, one.steps, one.tokens, one.usd] for one in used_over_time(steps)]
    shown = [step_values(one) for one in steps[:most]]
    return {"attempt": attempt, "total": len(shown), "used": used, "steps": shown}


def step_values(step: Shown) -> dict[str, object]:
    return {
        "position": step.position, "number": step.number, "role": step.role, "tool": step.tool,
        "arguments": step.arguments, "text": step.text, "reasoning": step.reasoning, "exit_code": step.exit_code,
        "seconds": step.seconds, "tokens": step.tokens, "cost_usd": step.cost_usd, "at": step.at, "cut": step.cut,
    }  # fmt: skip


def read_trajectories(evidence: Evidence, storage: str) -> dict[str, object]:
    """Return the last attempt's trajectory of every run, cut to what one file can carry."""
    stores = {name.rstrip("/").rsplit("/", 1)[-1]: name for name in evidence.scope.studies if name != PAPER}
    found: dict[str, object] = {}
    for row in evidence.rows:
        name = stores.get(row.study) or (next(iter(stores.values())) if len(stores) == 1 else None)
        if name is None:
            continue
        place = find_study(name, storage).place.child(f"artifacts/{row.run_id}/{row.attempts}")
        found[row.run_id] = trajectory_values(row.attempts, read_shown(place, FILE_TEXT), FILE_STEPS)
    return found
