"""`mldevbench regrade`: judge stored submissions again after a validator changed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.output import Json, Root, Storage, StudyName, note, print_json, print_table

if TYPE_CHECKING:
    from cluster.regrade import Copy
    from mldevbench.catalog import Catalog
    from mldevbench.store.study_store import StudyStore


def regrade(
    study: StudyName,
    storage: Storage = "results",
    all_: Annotated[bool, typer.Option("--all", help="Also where the validator is the same.")] = False,
    address: Annotated[
        str | None, typer.Option("--address", help="Ray's address; local starts an embedded one.")
    ] = None,
    root: Root = [],
    json_: Json = False,
) -> None:
    """Validate stored submissions again; old and new verdicts stand side by side, nothing is overwritten."""
    from cluster.session import choose_address, session
    from mldevbench.catalog import Catalog
    from mldevbench.store.study_store import find_study

    store, catalog = find_study(study, storage), Catalog.of([Path(folder) for folder in root])
    copies = _copies(store, catalog, all_)
    if not copies:
        note("nothing to judge again: every verdict is of the validator as it is now (--all judges anyway)")
        raise typer.Exit
    with session(choose_address(address)):
        from cluster.regrade import regrade as judge_again

        rows = judge_again(
            store, copies, catalog, _salt(store, copies), lambda row: note(f"{row.outcome:7} {row.label}  {row.task}")
        )
    flipped = [row for row in rows if row.outcome != row.outcome_before]
    if json_:
        print_json({"regraded": len(rows), "changed": [asdict(row) for row in flipped]})
        return
    print_table(
        f"{len(rows)} judged again, {len(flipped)} changed",
        ("run", "label", "task", "before", "now"),
        [(row.run_id, row.label, row.task, row.outcome_before, row.outcome) for row in flipped],
    )


def _copies(store: StudyStore, catalog: Catalog, everything: bool) -> list[Copy]:
    """Return what can and should be judged again; what can't is said."""
    from cluster.regrade import Copy

    copies, gone = [], 0
    rows = store.open()
    done = {(row.run_id, row.validator_digest) for row in store.regrades.all()}
    for row in rows.values():
        if row.task not in catalog.task_folders:
            gone += 1
            continue
        digest = catalog.task(row.task).validator_digest()
        if not everything and (row.validator_digest == digest or (row.run_id, digest) in done):
            continue
        attempts = [one for one in store.attempts_of(row.run_id) if one.archive and store.place.has(one.archive)]
        if attempts:
            copies.append(Copy(row, attempts[-1]))
        else:
            gone += 1
    if gone:
        note(f"{gone} runs can't be judged again: their submission or their task isn't there any more")
    return copies


def _salt(store: StudyStore, copies: list[Copy]) -> bytes:
    """Return the salt that the instances were drawn with: the study's own if it travelled along, else the storage's."""
    from mldevbench.draw import salt_digest
    from mldevbench.errors import UserError
    from mldevbench.store.place import Place
    from mldevbench.store.salt import read_salt

    above = Place(store.place.filesystem, store.place.path.rpartition("/")[0], "the storage", store.place.top)
    for place in (store.place, above):
        if place.has(".salt") and {copy.row.salt_digest for copy in copies} == {salt_digest(read_salt(place))}:
            return read_salt(place)
    raise UserError("the salt that these instances were drawn with isn't here; import the study with its salt")
