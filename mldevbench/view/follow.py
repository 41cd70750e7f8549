"""One study under a reader's eyes: its page data, made again only when the storage changed."""

from __future__ import annotations

import hashlib
import json
import threading

from mldevbench import frozen
from mldevbench.errors import UserError
from mldevbench.plan import plan
from mldevbench.records import Run
from mldevbench.report.contents import all_tables
from mldevbench.report.evidence import Evidence, Gathered, by_run, evidence_of
from mldevbench.report.figures import all_figures
from mldevbench.report.page.payload import (
    ATTEMPT_COLUMNS,
    RUN_COLUMNS,
    attempt_values,
    check_values,
    figure_values,
    in_order,
    study_values,
)
from mldevbench.store.lease import running
from mldevbench.store.study_store import StudyStore
from mldevbench.view.standing import listed_runs
from mldevbench.view.watching import Stamp, Watched, stamps


class Followed:
    """Keeps what was read; safe to be asked from several threads."""

    def __init__(self, store: StudyStore, shown: str) -> None:
        self.store = store
        self.shown = shown
        self._lock = threading.Lock()
        self._runs, self._attempts = Watched(store.runs), Watched(store.attempts)
        self._checks, self._regrades = Watched(store.checks), Watched(store.regrades)
        self._snapshots = Watched(store.snapshots)
        self._request: Stamp | None = None
        self._planned: list[Run] = []
        self._tag = ""
        self._evidence: Evidence | None = None
        self._study = b""
        self._figures: tuple[str, bytes] = ("", b"")

    def study(self) -> tuple[str, bytes]:
        """Return the page's data and the tag that names this state of it."""
        with self._lock:
            self._look()
            return self._tag, self._study

    def figures(self) -> bytes:
        """Draw the figures of what is there; kept until something changes."""
        with self._lock:
            self._look()
            if self._figures[0] != self._tag:
                found = [figure_values(one) for one in all_figures(self._evidence)] if self._evidence else []
                self._figures = self._tag, _json(found)
            return self._figures[1]

    def run(self, run_id: str) -> dict[str, object] | None:
        """Return the checks and attempts of one run; None for one that nobody planned."""
        with self._lock:
            self._look()
            known = any(run.run_id == run_id for run in self._planned)
            if not known and not any(row.run_id == run_id for row in self._runs.rows):
                return None
            checks = [one for one in self._checks.rows if one.run_id == run_id]
            attempts = in_order(one for one in self._attempts.rows if one.run_id == run_id)
        return {
            "checks": [check_values(one) for one in sorted(checks, key=lambda one: one.position)],
            "attempts": [dict(zip(ATTEMPT_COLUMNS, attempt_values(one), strict=True)) for one in attempts],
        }

    def run_ids(self) -> list[str]:
        with self._lock:
            self._look()
            return [row.run_id for row in self._attempts.rows] or [row.run_id for row in self._runs.rows]

    def _look(self) -> None:
        watched = (self._runs, self._attempts, self._checks, self._regrades, self._snapshots)
        changed = [one.look() for one in watched]
        request = stamps(self.store.place).get("study.yaml")
        holder = running(self.store.place) is not None
        tag = hashlib.sha256(repr([request, holder, [sorted(one.stamps.items()) for one in watched]]).encode())
        if request != self._request:
            self._planned = list(plan(frozen.read_requests(self.store.place)).runs)
            self._request = request
        if any(changed) or tag.hexdigest()[:16] != self._tag:
            self._tag = tag.hexdigest()[:16]
            self._make(holder)

    def _make(self, holder: bool) -> None:
        rows = self._runs.rows
        attempts = by_run(self._attempts.rows, {row.run_id for row in self._attempts.rows})
        self._evidence = self._gathered() if rows else None
        if self._evidence:
            values = study_values(self._evidence, all_tables(self._evidence), live=True)
        else:
            values = _nothing(self.shown, len(self._planned))
        values["runs"] = {"columns": RUN_COLUMNS, "rows": listed_runs(self._planned, rows, attempts, holder)}
        values["notes"] = [*_listed(values["notes"]), *([] if not holder else ["This study is being run."])]
        self._study = _json(values)

    def _gathered(self) -> Evidence:
        gathered = Gathered(
            self._runs.rows, self._planned, self._checks.rows, self._attempts.rows, self._regrades.rows,
            self._snapshots.rows,
        )  # fmt: skip
        try:
            return evidence_of([self.shown], gathered, partial=False)
        except UserError:  # no seed is whole yet: everything there is, and the titles say so
            return evidence_of([self.shown], gathered, partial=True)


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _nothing(shown: str, planned: int) -> dict[str, object]:
    return {
        "live": True, "title": f"mldevbench: {shown}", "heading": f"0 of {planned:,} runs have a result",
        "notes": [], "counts": [("runs finished", f"0 of {planned:,}")], "tables": [], "methods": "", "provenance": "",
        "bibtex": "",
    }  # fmt: skip


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
