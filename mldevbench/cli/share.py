"""`mldevbench export`, `import`, `merge` and `prune`: studies as files, together, and smaller."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mldevbench.cli import completion
from mldevbench.cli.figure import counted
from mldevbench.cli.output import Json, Storage, StudyName, print_json
from mldevbench.cli.plain import plain


def export(
    study: StudyName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to, such as study.tar or study.tar.gz.")],
    storage: Storage = "results",
    trajectories: Annotated[bool, typer.Option("--trajectories", help="With what the agents did.")] = False,
    submissions: Annotated[bool, typer.Option("--submissions", help="With what the agents left.")] = False,
    hosts: Annotated[bool, typer.Option("--hosts", help="With the nodes' names, instead of numbers.")] = False,
    salt: Annotated[bool, typer.Option("--salt", help="With the secret that instances are drawn with.")] = False,
    json_: Json = False,
) -> None:
    """Write a study's results to one file.

    Rows, checks and verdicts always go along; the rest only when asked for.
    """
    from mldevbench.share.packing import Wanted
    from mldevbench.share.packing import export as write
    from mldevbench.store.place import open_place
    from mldevbench.store.study_store import find_study

    wanted = Wanted(trajectories, submissions, hosts, salt)
    manifest = write(find_study(study, storage), open_place(storage), file, wanted)
    if json_:
        print_json({"file": str(file), **plain(manifest)})
        return
    beside = f", with {', '.join(manifest.holds)}" if manifest.holds else ""
    print(f"{counted(manifest.runs, 'run')} of {manifest.name} written to {file}{beside}")


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that export wrote.")],
    storage: Storage = "results",
    name: Annotated[str | None, typer.Option("--name", help="The study's name here.")] = None,
    json_: Json = False,
) -> None:
    """Take in a study that was exported."""
    from mldevbench.share.unpacking import take_in
    from mldevbench.store.place import open_place

    chosen, manifest = take_in(file, open_place(storage), name)
    if json_:
        print_json({"study": chosen, **plain(manifest)})
        return
    print(f"{counted(manifest.runs, 'run')} taken in as {chosen}; see them with: mldevbench report {chosen}")


def merge(
    studies: Annotated[
        list[str],
        typer.Argument(metavar="STUDY", help="Two or more studies.", autocompletion=completion.studies),
    ],
    name: Annotated[str, typer.Option("--name", help="The new study's name.")],
    storage: Storage = "results",
    json_: Json = False,
) -> None:
    """Unite studies in a new one by run id; contradictions are refused, each run keeps its origin."""
    from mldevbench.share.merging import merge as unite
    from mldevbench.store.place import Place, open_place
    from mldevbench.store.study_store import StudyStore, find_study
    from mldevbench.study import check_name

    child = open_place(storage).child(check_name(name))
    target = StudyStore(Place(child.filesystem, child.path, child.shown, child.path))
    merged = unite([find_study(study, storage) for study in studies], target)
    if json_:
        print_json(plain(merged))
        return
    taken = ", ".join(f"{number} of {study}" for study, number in merged.taken.items())
    print(f"{counted(merged.runs, 'run')} in {merged.name}: {taken}")


def prune(
    study: StudyName,
    storage: Storage = "results",
    trajectories: Annotated[bool, typer.Option("--trajectories", help="Remove what the agents did.")] = False,
    submissions: Annotated[bool, typer.Option("--submissions", help="Remove what they left.")] = False,
    superseded: Annotated[bool, typer.Option("--superseded", help="Remove what lost attempts left.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json_: Json = False,
) -> None:
    """Free disk; without options it only says what lies there. Rows and verdicts always stay."""
    from mldevbench.share.artifact import Kind
    from mldevbench.share.pruning import prune as remove
    from mldevbench.store.study_store import find_study

    kinds = [Kind.TRAJECTORY] * trajectories + [Kind.SUBMISSION] * submissions
    pruned = remove(find_study(study, storage), kinds, superseded, dry_run)
    if json_:
        print_json(plain(pruned))
        return
    print(", ".join(f"{kind} {_size(size)}" for kind, size in pruned.bytes_by_kind.items()))
    word = "freed" if pruned.done else "would free"
    print(f"{word} {_size(pruned.freed_bytes)} in {counted(pruned.files, 'file')}")
    if pruned.ungradable:
        print(f"{counted(pruned.ungradable, 'run')} can't be validated again after that")


def _size(size: int) -> str:
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"
