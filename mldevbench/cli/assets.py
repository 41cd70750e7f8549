"""`mldevbench assets`: what of others the profiles need, fetch it, verify it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mldevbench.cli.completion import tasks
from mldevbench.cli.output import Json, Root, note, print_json, print_table
from mldevbench.errors import UserError

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Wanted = Annotated[
    list[str] | None,
    typer.Argument(metavar="TASK", help="Task ids, categories, or all.", autocompletion=tasks),
]
Profile = Annotated[str, typer.Option("--profile", help="mini or full.")]


def _assets(tasks: list[str] | None, profile: str, root: Sequence[str]):
    from mldevbench.assets import declared
    from mldevbench.catalog import Catalog

    found = Catalog.of([Path(folder) for folder in root]).tasks(tasks or ["all"])
    return [asset for task in found for asset in declared(task, profile)]


@app.command("list")
def list_(tasks: Wanted = None, profile: Profile = "full", root: Root = [], json_: Json = False) -> None:
    """List the files that tasks need from elsewhere, with licence and source."""
    from dataclasses import asdict

    from mldevbench.assets.keeping import default_keep

    keep, assets = default_keep(), _assets(tasks, profile, root)
    state = {asset.sha256: keep.has(asset.sha256, asset.bytes) for asset in assets}
    if json_:
        print_json([{**asdict(asset), "fetched": state[asset.sha256]} for asset in assets])
        return
    rows = [
        (one.task, one.name, megabytes(one.bytes), one.licence, one.source, "yes" if state[one.sha256] else "no")
        for one in assets
    ]
    print_table("", ("task", "file", "size", "licence", "source", "fetched"), rows)
    print(_sizes(assets))


@app.command("fetch")
def fetch(
    tasks: Wanted = None,
    profile: Profile = "full",
    offline: Annotated[bool, typer.Option("--offline", help="Only say whether all is there.")] = False,
    root: Root = [],
) -> None:
    """Fetch what is missing into the cache; a broken download goes on where it broke."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from mldevbench.assets.declared import Asset, distinct
    from mldevbench.assets.fetching import Fetcher

    assets = distinct(_assets(tasks, profile, root))
    note(_sizes(assets))
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    failed: list[str] = []
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bars = {asset.sha256: progress.add_task(asset.name, total=asset.bytes, visible=False) for asset in assets}

        def arrived(asset: Asset, size: int) -> None:
            progress.update(bars[asset.sha256], advance=size, visible=True)

        fetcher = Fetcher(offline=offline, progress=arrived)
        for asset in assets:
            try:
                fetcher.bring(asset)
            except UserError as error:
                failed.append(str(error))
    for line in failed:
        note(f"mldevbench: {line}")
    print(f"{len(assets) - len(failed)} of {len(assets)} files are here")
    if failed:
        raise typer.Exit(1)


@app.command("verify")
def verify(tasks: Wanted = None, profile: Profile = "full", root: Root = []) -> None:
    """Read every fetched file again; one that has gone bad is thrown away. Exit code 1 if any is bad or missing."""
    from mldevbench.assets.declared import distinct
    from mldevbench.assets.keeping import default_keep

    keep, assets = default_keep(), distinct(_assets(tasks, profile, root))
    wrong = []
    for asset in assets:
        there = keep.place(asset.sha256).is_file()
        if not keep.right(asset.sha256):
            wrong.append(f"{asset.name} of {asset.task}: {'was bad and is thrown away' if there else 'is missing'}")
    for line in wrong:
        note(f"mldevbench: {line}; run 'mldevbench assets fetch'")
    print(f"{len(assets) - len(wrong)} of {len(assets)} files are right")
    if wrong:
        raise typer.Exit(1)


def _sizes(assets: Sequence[object]) -> str:
    from mldevbench.assets.declared import Asset, distinct
    from mldevbench.assets.keeping import default_keep

    keep, each = default_keep(), distinct(asset for asset in assets if isinstance(asset, Asset))
    owed = [asset for asset in each if not keep.has(asset.sha256, asset.bytes)]
    total = megabytes(sum(asset.bytes for asset in each))
    return f"{len(each)} files, {total}; to fetch: {len(owed)}, {megabytes(sum(one.bytes for one in owed))}"


def megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
