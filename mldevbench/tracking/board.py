"""The W&B runs of one study, one for each label; what W&B refuses is said once and left."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mldevbench.store.study_store import StudyStore
from mldevbench.tracking.message import Opening, Point, Subject
from mldevbench.tracking.table import Sheet, rows_of_label, sheets, write_parquet

INIT_SECONDS = 30.0


class Board:
    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.runs: dict[str, Any] = {}
        self.opening: Opening | None = None
        self._complained = False

    def open(self, opening: Opening) -> None:
        """Open or take up the runs; online that can't be had becomes offline."""
        self.opening = opening
        os.environ.setdefault("WANDB_DATA_DIR", str(Path(opening.folder) / "wandb" / "data"))
        for subject in opening.subjects:
            try:
                self.runs[subject.label] = _init(opening, subject)
            except Exception as error:
                if opening.mode == "offline":
                    self._complain("can't log this study", error)
                    return
                self._complain("can't be reached, so this study is logged offline", error)
                self.open(replace(opening, mode="offline"))
                return
        self.say(self._where())

    def _where(self) -> str:
        assert self.opening
        first = next(iter(self.runs.values()), None)
        url = getattr(first, "url", None)
        if self.opening.mode == "online" and url:
            return str(url)
        return f"offline; send it with: wandb sync {self.opening.folder}/wandb/offline-run-*"

    def point(self, point: Point) -> None:
        run = self.runs.get(point.label)
        if run is None:
            return
        try:
            run.log(values_of(point))
        except Exception as error:
            self._complain("took no values", error)

    def close(self, whole: bool) -> None:
        """Send the tables and the Parquet files if the driver came to its end, and finish."""
        for label, run in self.runs.items():
            try:
                if whole:
                    self._tables(label, run)
                run.finish()
            except Exception as error:
                self._complain("took no tables", error)

    def _tables(self, label: str, run: Any) -> None:
        import wandb

        assert self.opening
        store = StudyStore(self.opening.place)
        rows = rows_of_label(store, label)
        run.log({f"tables/{sheet.name}": _table(wandb, sheet) for sheet in sheets(rows)})
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{self.opening.study}-{label}")[:120]
        artifact = wandb.Artifact(name, type="results", metadata={"study": self.opening.study, "label": label})
        with tempfile.TemporaryDirectory() as folder:
            write_parquet(store, rows, Path(folder))
            artifact.add_dir(folder)
            run.log_artifact(artifact)

    def _complain(self, what: str, error: Exception) -> None:
        if not self._complained:
            self.say(f"{what} ({type(error).__name__}: {str(error)[:200]}); the study goes on without it")
        self._complained = True


def _init(opening: Opening, subject: Subject) -> Any:
    import wandb

    Path(opening.folder).mkdir(parents=True, exist_ok=True)
    run = wandb.init(
        project=opening.project,
        id=subject.run_id,
        resume="allow",
        reinit="create_new",
        group=opening.study,
        name=subject.label,
        job_type="study",
        mode=opening.mode,
        dir=opening.folder,
        config=dict(subject.config),
        notes=f"mldevbench study {opening.study}: {subject.config.get('results', '')}",
        # What W&B finds out by itself tells of the driver, not of the runs.
        settings=wandb.Settings(
            silent=True, console="off", x_disable_meta=True, x_disable_stats=True, disable_git=True, save_code=False,
            x_save_requirements=False, init_timeout=INIT_SECONDS,
        ),
    )  # fmt: skip
    run.define_metric("*", step_metric="done")
    return run


def values_of(point: Point) -> dict[str, float]:
    """Return one line of the history; what isn't known isn't in it."""
    count, row = point.count, point.row
    values: dict[str, float | None] = {
        "done": count.done,
        "passed": count.passed,
        "failed": count.failed,
        "void": count.void,
        "success": count.passed / count.done if count.done else None,
        "progress": count.done / count.planned if count.planned else None,
        "spent_usd": count.spent_usd,
        "gpu_hours": count.gpu_seconds / 3600,
        "tokens": count.tokens,
        "running": point.running,
    }
    if row:
        values |= {
            "run/score": row.score,
            "run/steps": row.steps,
            "run/cost_usd": row.cost_usd,
            "run/wall_seconds": row.wall_seconds,
        }
    return {name: value for name, value in values.items() if value is not None}


def _table(wandb: Any, sheet: Sheet) -> Any:
    return wandb.Table(columns=list(sheet.columns), data=[list(row) for row in sheet.rows])
