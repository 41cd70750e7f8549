"""`mldevbench runs`: the runs of a study, filtered."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from mldevbench.cli.output import Json, Storage, StudyName, print_json, print_table, usd_text
from mldevbench.errors import unknown


def runs(
    study: StudyName,
    storage: Storage = "results",
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    label: Annotated[str | None, typer.Option(help="Only this agent's label.")] = None,
    outcome: Annotated[str | None, typer.Option(help="Only passed, failed or void.")] = None,
    seed: Annotated[int | None, typer.Option(help="Only this seed.")] = None,
    category: Annotated[str | None, typer.Option(help="Only tasks of this category.")] = None,
    instance: Annotated[int | None, typer.Option(help="Only this instance.")] = None,
    cause: Annotated[str | None, typer.Option(help="Only void for this cause, such as node_lost.")] = None,
    stop_reason: Annotated[str | None, typer.Option(help="Only agents that stopped for this, such as steps.")] = None,
    node: Annotated[str | None, typer.Option(help="Only runs of this node.")] = None,
    json_: Json = False,
) -> None:
    """List the runs of a study that have a result."""
    from mldevbench.records import Cause, Outcome, StopReason
    from mldevbench.store.study_store import find_study

    for word, choices, kind in (
        (outcome, Outcome, "outcome"), (cause, Cause, "cause"), (stop_reason, StopReason, "stop reason"),
    ):  # fmt: skip
        if word and word not in list(choices):
            raise unknown(kind, word, list(choices))
    wanted = {
        "task": task, "label": label, "outcome": outcome, "seed": seed, "category": category, "instance": instance,
        "cause": cause, "stop_reason": stop_reason, "node": node,
    }  # fmt: skip
    chosen = [
        row
        for row in find_study(study, storage).runs.all()
        if all(value is None or getattr(row, key) == value for key, value in wanted.items())
    ]
    if json_:
        print_json([asdict(row) for row in chosen])
        return
    print_table(
        "",
        ("run", "label", "task", "seed", "outcome", "why", "score", "steps", "tokens", "cost", "seconds"),
        [
            (
                row.run_id,
                row.label,
                row.task,
                str(row.seed),
                row.outcome,
                row.cause or row.stop_reason or "",
                "–" if row.score is None else f"{row.score:.2f}",
                str(row.steps),
                str(row.total_tokens),
                usd_text(row.cost_usd),
                f"{row.wall_seconds:.1f}",
            )
            for row in chosen
        ],
    )
