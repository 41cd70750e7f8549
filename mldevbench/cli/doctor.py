"""`mldevbench doctor`: what is there, what is missing, what to do: on a laptop, on a cluster's node, inside a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from mldevbench.cli import examining
from mldevbench.cli.output import Json, Root, Storage, print_json
from mldevbench.errors import Fault, UserError


@dataclass(frozen=True)
class Finding:
    what: str
    ok: bool
    needed: bool  # by every study
    says: str

    @property
    def mark(self) -> str:
        return "ok  " if self.ok else "FAIL" if self.needed else "note"


def doctor(
    storage: Storage = "results",
    root: Root = [],
    address: Annotated[
        str | None, typer.Option("--address", envvar="MLDEVBENCH_ADDRESS", help="Also look at this cluster.")
    ] = None,
    scratch: Annotated[
        str | None, typer.Option("--scratch", envvar="MLDEVBENCH_SCRATCH", help="Folder for workspaces.")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Build what is missing and can be built.")] = False,
    json_: Json = False,
) -> None:
    """Look at this machine; exit code 1 if something that every study needs is missing.

    On a cluster: as a job it looks at the node that drivers run on (ray job submit … -- python -m mldevbench doctor).
    """
    roots = [Path(folder) for folder in root]
    needed: dict[str, Callable[[], str]] = {
        "where": examining.where,
        "task venv": lambda: examining.task_venv(fix),
        "sandbox": examining.sandbox,
        "storage": lambda: examining.storage(storage),
        "disk": lambda: examining.disk(storage, scratch),
        "tasks": lambda: examining.tasks(roots),
        "Ray": lambda: examining.ray(address),
    }
    useful: dict[str, Callable[[], str]] = {
        "token": lambda: examining.token(address),
        "GPUs": examining.gpus,
        "agents": lambda: examining.agents(roots),
        "model keys": examining.keys,
        "W&B": examining.wandb,
        "network": examining.network,
    }
    findings = [_look(what, look, True) for what, look in needed.items()]
    findings += [_look(what, look, False) for what, look in useful.items()]
    if json_:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            print(f"{finding.mark}  {finding.what:10} {finding.says}")
    raise typer.Exit(0 if all(finding.ok or not finding.needed for finding in findings) else 1)


def _look(what: str, look: Callable[[], str], needed: bool) -> Finding:
    try:
        return Finding(what, True, needed, look())
    except (UserError, Fault) as error:
        return Finding(what, False, needed, " ".join(str(error).split()))
