"""`mldevbench cancel`: stop a study's driver, wherever it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from mldevbench.cli.output import Storage, StudyName, note
from mldevbench.errors import UserError


def cancel(
    study: StudyName,
    storage: Storage = "results",
    drain: Annotated[bool, typer.Option("--drain", help="Let running agents finish; start nothing new.")] = False,
) -> None:
    """Stop a running study; what is finished stays, and `mldevbench run` goes on with the rest."""
    from mldevbench.store.control import Stop, ask_to_stop
    from mldevbench.store.lease import running
    from mldevbench.store.study_store import find_study

    store = find_study(study, storage)
    holder = running(store.place)
    if holder is None:
        raise UserError(f"study {store.name!r} isn't running; there is nothing to cancel")
    ask_to_stop(store.place, Stop.DRAIN if drain else Stop.CANCEL)
    note(f"asked the driver (process {holder.pid} on {holder.host}) to {'drain' if drain else 'stop'}")
