"""The trajectory: every step on disk as it happens, and in the storage in numbered segments."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from mldevbench.errors import Fault
from mldevbench.records import Step, StepRow, Usage
from mldevbench.store.place import Place, open_place

SHIP_SECONDS = 30.0
OWED = ".owed"
LONGEST_ARGUMENTS = 4_096  # characters in `steps/`; the trajectory has all of them
LONGEST_TEXT = 1_000_000  # characters of one text; a tool's whole output is in the workspace


class Trajectory:
    """Appends steps to a local file and ships what is new; safe to use from several threads.

    A killed process loses nothing that is on the disk: a note beside the file says what the storage doesn't have yet,
    for `ship_rest`. A lost node loses the last segment at most.
    """

    def __init__(
        self,
        path: Path,
        place: Place | None = None,
        *,
        scrub: Callable[[str], str] = str,
        every: float = SHIP_SECONDS,
    ) -> None:
        self.path = path
        self._place = place
        self._scrub = scrub
        self._every = every
        self._lock = threading.Lock()
        self._shipping = threading.Lock()
        self._done = threading.Event()
        self._shipped = 0
        self._segments = 0
        self._file: int | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Trajectory:
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if self._place is not None:
            self._note()
            self._thread = threading.Thread(target=self._ship_now_and_then, name="trajectory", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            if self._file is not None:
                os.close(self._file)
            self._file = None
        self.ship()
        self.path.with_suffix(OWED).unlink(missing_ok=True)

    def record(self, step: Step) -> None:
        """Append one step; one that comes after the end is dropped, since nothing may follow the last segment."""
        line = self._scrub(to_line(step)).encode("utf-8", "backslashreplace") + b"\n"
        with self._lock:
            if self._file is not None:
                os.write(self._file, line)

    def ship(self) -> None:
        """Send what the storage doesn't have yet as the next segment."""
        if self._place is None:
            return
        with self._shipping:
            with self.path.open("rb") as file:
                file.seek(self._shipped)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            if whole:
                self._place.write(segment_name(self._segments), whole)
                self._shipped += len(whole)
                self._segments += 1
                self._note()

    def _note(self) -> None:
        """Say where the next segment belongs, for whoever finds the file after this process was killed."""
        assert self._place is not None
        where = str(self._place.local or self._place.shown)
        aside = self.path.with_suffix(".aside")
        aside.write_text(json.dumps([where, self._segments, self._shipped]), encoding="utf-8")
        aside.replace(self.path.with_suffix(OWED))

    def _ship_now_and_then(self) -> None:
        while not self._done.wait(self._every):
            try:
                self.ship()
            except Fault:
                continue  # the next round or the end tries again; only the end may fail the attempt


def ship_rest(note: Path) -> None:
    """Send what a killed process had not sent yet, by the note that it left."""
    where, segments, shipped = json.loads(note.read_text(encoding="utf-8"))
    data = note.with_suffix(".jsonl").read_bytes()[shipped:]
    if whole := data[: data.rfind(b"\n") + 1]:
        open_place(where).write(segment_name(segments), whole)


def segment_name(number: int) -> str:
    return f"trajectory-{number:05d}.jsonl"


def to_line(step: Step) -> str:
    """Return a step as one line of JSON."""
    record = asdict(step)
    record["text"] = step.text[:LONGEST_TEXT]
    record["at"] = (step.at or datetime.now(UTC)).isoformat()
    return json.dumps(record, ensure_ascii=False)


def from_line(line: str) -> Step:
    record: dict[str, Any] = json.loads(line)
    usage = Usage(**record.pop("usage"))
    at = datetime.fromisoformat(record.pop("at"))
    return Step(**record, usage=usage, at=at)


def read_steps(text: str) -> list[Step]:
    """Read a trajectory back; a last line that a kill cut short is left out."""
    # Not splitlines(): an agent's output may hold other characters that it takes for the end of a line.
    return [from_line(line) for line in text[: text.rfind("\n") + 1].split("\n") if line]


def stored_steps(place: Place) -> list[Step]:
    """Read the segments of one attempt from the storage."""
    names = [name for name in place.names() if name.startswith("trajectory-")]
    return read_steps("".join(place.read(name).decode() for name in names))


def rows_of_steps(study: str, run_id: str, attempt: int, steps: Iterable[Step]) -> list[StepRow]:
    """Return the rows of `steps/`, each with what the attempt had used by then."""
    rows: list[StepRow] = []
    used_steps, used_tokens, used_usd = 0, 0, 0.0
    known = True
    for position, step in enumerate(steps):
        called = step.role == "model"
        if called:
            used_steps += 1
            used_tokens += step.usage.total_tokens
            known = known and step.usage.cost_usd is not None
            used_usd += step.usage.cost_usd or 0.0
        rows.append(
            StepRow(
                study=study,
                run_id=run_id,
                attempt=attempt,
                position=position,
                step=step.number,
                role=step.role,
                tool=step.tool,
                arguments=None if step.arguments is None else step.arguments[:LONGEST_ARGUMENTS],
                exit_code=step.exit_code,
                seconds=step.seconds,
                prompt_tokens=step.usage.prompt_tokens if called else 0,
                completion_tokens=step.usage.completion_tokens if called else 0,
                cost_usd=step.usage.cost_usd if called else None,
                used_steps=used_steps,
                used_tokens=used_tokens,
                used_usd=used_usd if known else None,
            )
        )
    return rows
