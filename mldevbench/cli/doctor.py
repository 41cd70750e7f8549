"""`mldevbench doctor`: whether this machine can run the benchmark, and what to do if not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from mldevbench.cli.output import Json, Root, Storage, print_json
from mldevbench.errors import Fault, UserError

LEAST_FREE_GB = 5


def doctor(
    storage: Storage = "results",
    root: Root = [],
    fix: Annotated[bool, typer.Option("--fix", help="Build what is missing and can be built.")] = False,
    json_: Json = False,
) -> None:
    """Check this machine; exit code 1 if something that every study needs is missing."""
    examined: dict[str, Callable[[], str]] = {
        "task venv": lambda: _task_venv(fix),
        "sandbox": _sandbox,
        "storage": lambda: _storage(storage),
        "disk": lambda: _disk(storage),
        "tasks": lambda: _tasks([Path(folder) for folder in root]),
        "Ray": _ray,
    }
    findings = []
    for name, examine in examined.items():
        try:
            findings.append({"what": name, "ok": True, "says": examine()})
        except (UserError, Fault) as error:
            findings.append({"what": name, "ok": False, "says": str(error)})
    if json_:
        print_json(findings)
    else:
        for finding in findings:
            print(f"{'ok  ' if finding['ok'] else 'FAIL'}  {finding['what']:10} {finding['says']}")
    raise typer.Exit(0 if all(finding["ok"] for finding in findings) else 1)


def _task_venv(fix: bool) -> str:
    from mldevbench import task_venv

    if fix:
        constraints = Path(__file__).resolve().parents[2] / "constraints.txt"
        task_venv.build(constraints if constraints.is_file() else None)
    return str(task_venv.path())


def _sandbox() -> str:
    from mldevbench.sandbox.opening import available

    why = available("bubblewrap")
    if why:
        raise UserError(f"bubblewrap doesn't work: {why}")
    return "bubblewrap works"


def _storage(storage: str) -> str:
    from mldevbench.store.place import check_writable, open_place

    check_writable(open_place(storage))
    return f"{storage} can be written"


def _disk(storage: str) -> str:
    folder = Path(storage) if "://" not in storage else Path.cwd()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free / 1e9
    if free < LEAST_FREE_GB:
        raise UserError(f"only {free:.1f} GB free; make room for at least {LEAST_FREE_GB} GB")
    return f"{free:.0f} GB free, {os.cpu_count()} CPUs"


def _tasks(roots: list[Path]) -> str:
    from mldevbench.catalog import Catalog

    catalog = Catalog.of(roots)
    broken = []
    for name in catalog.task_folders:
        try:
            catalog.task(name)
        except UserError as error:
            broken.append(str(error))
    if broken:
        raise UserError("; ".join(broken))
    return f"{len(catalog.task_folders)} tasks, {len(catalog.agent_folders)} agents"


def _ray() -> str:
    from importlib.metadata import version

    return f"ray {version('ray')}, address {os.environ.get('RAY_ADDRESS', 'local (embedded)')}"
