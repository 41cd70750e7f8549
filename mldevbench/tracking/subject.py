"""What W&B is told of a study before anything has run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from mldevbench import __version__
from mldevbench.digest import of_value
from mldevbench.plan import Plan
from mldevbench.records import AgentSpec, Run
from mldevbench.store.place import Place
from mldevbench.study import Request
from mldevbench.tracking.message import Subject


def subjects_of(study: str, place: Place, request: Request, plan: Plan) -> tuple[Subject, ...]:
    """Return one subject for each label of the plan, the earlier calls' too."""
    planned = Counter(run.spec.label for run in plan.runs)
    runs = {run.spec.label: run for run in plan.runs}
    return tuple(
        Subject(
            label,
            of_value([study, request.salt_digest, label], 16),
            number,
            _config(study, place, request, [run for run in plan.runs if run.spec.label == label], runs[label].spec),
        )
        for label, number in planned.items()
    )


def _config(study: str, place: Place, request: Request, runs: Sequence[Run], spec: AgentSpec) -> dict[str, object]:
    folder = str(place.local or place.shown)
    return {
        "study": study,
        "label": spec.label,
        "agent": spec.agent,
        "model": spec.model,
        "params": json.loads(spec.params),
        "agent_digest": spec.digest,
        "profile": request.profile,
        "tasks": sorted({run.task for run in runs}),
        "seeds": sorted({run.seed for run in runs}),
        "instances": len({run.instance for run in runs}),
        "planned": len(runs),
        "isolation": request.isolation,
        "network": request.network,
        "salt_digest": request.salt_digest,
        "mldevbench_version": __version__,
        "results": folder,
        "report": f"mldevbench report {folder}",
    }
