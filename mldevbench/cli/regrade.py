"""`mldevbench regrade`: judge stored submissions again, after a validator changed or to see whether it flakes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.output import Json, Root, Storage, StudyName, note, print_json, print_table

if TYPE_CHECKING:
    from mldevbench.catalog import Catalog
    from mldevbench.records import RegradeRow, SnapshotRow
    from mldevbench.store.study_store import StudyStore

Address = Annotated[str | None, typer.Option("--address", help="Ray's address; local starts an embedded one.")]


def regrade(
    study: StudyName,
    storage: Storage = "results",
    all_: Annotated[bool, typer.Option("--all", help="Also where the validator is the same.")] = False,
    repeats: Annotated[int, typer.Option("--repeats", help="Judge every submission until it has so many.")] = 0,
    snapshots: Annotated[bool, typer.Option("--snapshots", help="Judge the snapshots that have no verdict.")] = False,
    address: Address = None,
    root: Root = [],
    json_: Json = False,
) -> None:
    """Validate stored submissions again; old and new verdicts stand side by side, nothing is overwritten."""
    from mldevbench.catalog import Catalog
    from mldevbench.records import Outcome
    from mldevbench.store.study_store import find_study

    store, catalog = find_study(study, storage), Catalog.of([Path(folder) for folder in root])
    if snapshots:
        rows = grade_snapshots(store, catalog, address)
        print_json({"snapshots": len(rows)}) if json_ else print(f"{len(rows)} distinct snapshots judged")
    else:
        rows = judge_again(store, catalog, address, all_, repeats)
        _show(rows, json_)
    if void := sum(row.outcome is Outcome.VOID for row in rows):
        note(f"{void} judgements are void; the same command makes them again")
        raise typer.Exit(3)


def _show(rows: list[RegradeRow], as_json: bool) -> None:
    from mldevbench.records import Outcome

    flipped = [row for row in rows if row.outcome not in (row.outcome_before, Outcome.VOID)]
    if as_json:
        print_json({"regraded": len(rows), "changed": [asdict(row) for row in flipped]})
    elif not rows:
        note("nothing to judge again: every verdict is of the validator as it is now (--all judges anyway)")
    else:
        print_table(
            f"{len(rows)} judged again, {len(flipped)} changed",
            ("run", "label", "task", "before", "now"),
            [(row.run_id, row.label, row.task, row.outcome_before, row.outcome) for row in flipped],
        )


def judge_again(
    store: StudyStore, catalog: Catalog, address: str | None, everything: bool = False, repeats: int = 0
) -> list[RegradeRow]:
    """Judge what is owed, saying each verdict as it comes."""
    from mldevbench.regrading import salt_of, submissions

    found = submissions(store, catalog, everything, repeats)
    if found.gone:
        note(f"{found.gone} runs can't be judged again: their submission or their task isn't there any more")
    if not found.again:
        return []
    salt = salt_of(store, (one.row for one in found.again))
    from cluster.session import choose_address, session

    with session(choose_address(address)):
        from cluster.judging import Piece
        from cluster.regrade import regrade as judge

        pieces = [Piece(one.row, one.archive, one.digest, one) for one in found.again]
        return judge(store, pieces, catalog, salt, lambda row: note(f"{row.outcome:7} {row.label}  {row.task}"))


def grade_snapshots(store: StudyStore, catalog: Catalog, address: str | None) -> list[SnapshotRow]:
    """Judge the snapshots that are owed; return a row for each distinct one."""
    from mldevbench.regrading import salt_of, ungraded

    found = ungraded(store, catalog)
    if not found:
        return []
    salt = salt_of(store, (one.row for one in found))
    from cluster.session import choose_address, session

    with session(choose_address(address)):
        from cluster.judging import Piece
        from cluster.regrade import grade_snapshots as judge

        pieces = [Piece(one.row, one.archive, one.digest, one.snapshots) for one in found]
        return judge(
            store, pieces, catalog, salt,
            lambda row: note(f"{row.outcome:7} {row.label}  {row.task}  after {row.steps} steps"),
        )  # fmt: skip
