"""What a shell offers when Tab is pressed: tasks, agents and studies by name; never an error, never anything slow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from mldevbench.catalog import Catalog


def tasks(context: typer.Context, incomplete: str) -> list[str]:
    catalog = _catalog(context)
    return _fitting([*catalog.task_folders, *catalog.categories, "all"], incomplete) if catalog else []


def agents(context: typer.Context, incomplete: str) -> list[str]:
    catalog = _catalog(context)
    return _fitting(catalog.agent_folders, incomplete) if catalog else []


def studies(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the studies of a folder; a remote storage is too far away for a key press."""
    storage = context.params.get("storage") or os.environ.get("MLDEVBENCH_STORAGE") or "results"
    return _fitting((path.parent.name for path in Path(storage).glob("*/study.yaml")), incomplete)


def _catalog(context: typer.Context) -> Catalog | None:
    from mldevbench.catalog import Catalog
    from mldevbench.errors import UserError

    named = context.params.get("root") or os.environ.get("MLDEVBENCH_ROOT", "").split()
    catalog = Catalog(Catalog.of().roots + tuple(Path(folder).resolve() for folder in named))
    try:
        return catalog if catalog.task_folders and catalog.agent_folders else None
    except UserError:  # two folders of one name: the command itself will say so
        return None


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
