"""Progress on standard error: a live table on a terminal, plain lines otherwise."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TextIO

from cluster.job import Tally
from mldevbench.records import RunRow

PLAIN_SECONDS = 10.0
LIVE_SECONDS = 0.2
UP_AND_ERASE = "\x1b[{}F\x1b[J"  # so many lines up, and all that is below


class Progress:
    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.live = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self._said = float("-inf")
        self._lines = 0  # of the table that stands there now

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wipe()
        self.stream.flush()

    def update(self, tally: Tally, finished: RunRow | None) -> None:
        """Show where the study stands, and each run that ends."""
        said = [*tally.notes, *([ended_line(finished)] if finished else [])]
        tally.notes.clear()
        if said:
            self._wipe()
            self._say(*said)
        due = time.monotonic() - self._said >= (LIVE_SECONDS if self.live else PLAIN_SECONDS)
        if self.live and (said or due):
            self._wipe()
            table = standing_table(tally, self._width())
            self._say(*table)
            self._lines = len(table)
        elif due:
            self._say(standing_line(tally))
        if due:
            self._said = time.monotonic()

    def _say(self, *lines: str) -> None:
        self.stream.write("".join(f"{line}\n" for line in lines))
        self.stream.flush()

    def _wipe(self) -> None:
        if self._lines:
            self.stream.write(UP_AND_ERASE.format(self._lines))
            self._lines = 0

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self.stream.fileno()).columns or 80
        except OSError:
            return 80


def ended_line(row: RunRow) -> str:
    why = row.cause or (row.stop_reason if row.stop_reason != "finished" else None)
    words = f"{row.outcome:7} {row.label}  {row.task}  seed {row.seed}"
    return words + (f"  instance {row.instance}" if row.instance else "") + (f"  ({why})" if why else "")


def standing_line(tally: Tally) -> str:
    return ", ".join([f"{tally.done}/{tally.planned} done", *(text for _, text in _facts(tally))])


def standing_table(tally: Tally, width: int) -> list[str]:
    """Return a line for each thing, none longer than the terminal: one that wraps could not be wiped."""
    facts = [("done", f"{tally.done} of {tally.planned}"), *_facts(tally)]
    return [f"{name:8} {text}"[: width - 1] for name, text in facts]


def _facts(tally: Tally) -> list[tuple[str, str]]:
    nodes = [f"{tally.nodes} nodes"] if tally.nodes > 1 else []
    if tally.gpus:
        nodes.append(f"{tally.gpus_held:g} of {tally.gpus:g} GPUs held")
    if tally.gpus_idle:
        nodes.append(f"{tally.gpus_idle:g} idle")
    ended = [f"{tally.passed} passed", f"{tally.failed} failed"] + [f"{tally.void} void"] * bool(tally.void)
    waited = f"agents waited {tally.model_wait_seconds:.0f} s for models" if tally.model_wait_seconds >= 1 else ""
    spent = "cost unknown" if tally.usd is None else f"${tally.usd:.2f} spent"
    facts = [
        ("results", ", ".join(ended)),
        ("now", f"{tally.running} running, {tally.grading} being judged, {tally.owed} owed"),
        ("cluster", ", ".join(nodes)),
        ("models", waited),
        ("cost", spent),
        ("time", left_text(tally)),
    ]
    return [(name, text) for name, text in facts if text]


def left_text(tally: Tally) -> str:
    """Say how long it will take, and whether that is more than what the tasks' authors guess."""
    if tally.running and not tally.seconds_left:
        return "time left unknown"
    text = f"about {tally.seconds_left / 60:.0f} min left" if tally.seconds_left >= 60 else "less than a minute left"
    return f"{text} by the tasks' own guesses" if tally.guessing else text
