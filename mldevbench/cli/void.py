"""`mldevbench void`: take a result out of the count, with a reason that stays."""

from __future__ import annotations

from typing import Annotated

import typer

from mldevbench.cli.output import Json, Storage, StudyName, print_json
from mldevbench.errors import UserError


def void(
    study: StudyName,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its first digits.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept, and every report counts the run as void.")],
    storage: Storage = "results",
    json_: Json = False,
) -> None:
    """Declare a run void: it leaves every rate, and the next call of the study runs it again."""
    from mldevbench.cli.finding import find_run
    from mldevbench.store.study_store import find_study
    from mldevbench.voiding import declare_void

    store = find_study(study, storage)
    found = find_run(store, run)
    if found.row is None:
        raise UserError(f"run {found.run_id} has no result yet, so there is nothing to declare void")
    before = found.row.outcome
    row = declare_void(store, found.row, reason)
    if json_:
        print_json({"run": row.run_id, "outcome": row.outcome, "outcome_before": before, "reason": reason})
        return
    print(f"run {row.run_id} ({row.label}, {row.task}, seed {row.seed}) was {before} and is void now: {reason}")
