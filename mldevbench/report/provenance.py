"""Where numbers come from: digests, versions and nodes, as one JSON object."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from mldevbench import __version__
from mldevbench.digest import of_value
from mldevbench.records import RunRow
from mldevbench.report.evidence import Evidence

DISTINCT: tuple[tuple[str, Callable[[RunRow], object]], ...] = (
    ("profiles", lambda row: row.profile),
    ("isolation", lambda row: row.isolation),
    ("network", lambda row: row.network),
    ("models", lambda row: row.model),
    ("models_served", lambda row: row.model_served),
    ("gpu_types", lambda row: row.gpu_type),
    ("nodes", lambda row: row.node),
    ("seeds", lambda row: row.seed),
    ("instances", lambda row: row.instance),
    ("salt_digests", lambda row: row.salt_digest),
    ("mldevbench_versions", lambda row: row.mldevbench_version),
)


def provenance(evidence: Evidence, now: datetime | None = None) -> str:
    rows, scope = evidence.rows, evidence.scope
    found: dict[str, object] = {
        "studies": list(scope.studies),
        "made_at": (now or datetime.now(UTC)).isoformat(timespec="seconds"),
        "made_by": {"mldevbench": __version__, "python": platform.python_version()},
        "runs": {
            "planned": scope.planned, "finished": scope.finished, "counted": len(rows), "void": scope.void,
            "left_out": scope.left_out, "partial": scope.partial,
            "digest": of_value(sorted((row.run_id, str(row.outcome)) for row in rows), 16),
        },
        "started_at": _edge(min, (row.started_at for row in rows)),
        "finished_at": _edge(max, (row.finished_at for row in rows)),
        **{name: _distinct(rows, read) for name, read in DISTINCT},
        "tasks": _digests(rows, lambda row: row.task, lambda row: (row.task_digest, row.validator_digest)),
        "agents": _digests(rows, lambda row: row.label, lambda row: (row.agent, row.agent_digest, row.params)),
    }  # fmt: skip
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _edge(choose: Callable[[list[datetime]], datetime], moments: Iterable[datetime]) -> str | None:
    known = list(moments)
    return choose(known).isoformat() if known else None


def _distinct(rows: Iterable[RunRow], read: Callable[[RunRow], object]) -> list[object]:
    return sorted({value for row in rows if (value := read(row)) is not None}, key=str)


def _digests(
    rows: Iterable[RunRow], name: Callable[[RunRow], str], read: Callable[[RunRow], tuple[str, ...]]
) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, set[tuple[str, ...]]] = {}
    for row in rows:
        found.setdefault(name(row), set()).add(read(row))
    return {key: sorted(found[key]) for key in sorted(found)}
