"""From kept contents to the folder that a task's own code reads: its assets under their names."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mldevbench.assets.declared import Asset, declared
from mldevbench.assets.keeping import Keep, default_keep
from mldevbench.digest import of_value
from mldevbench.task import Task


def provided(task: Task, profile: str, *, judging: bool = False) -> Mapping[str, Any]:
    """Return a profile's values with the folder of its assets; those held out are for judges only."""
    values = task.profile(profile)
    assets = [asset for asset in declared(task, profile) if judging or not asset.held_out]
    if not assets:
        return values
    return {**values, "assets": str(lay_out(assets, default_keep()))}


def lay_out(assets: Sequence[Asset], keep: Keep) -> Path:
    """Make a folder of links, once for each set of assets; what isn't fetched is missing there."""
    present = {asset.name: asset.sha256 for asset in assets if keep.has(asset.sha256, asset.bytes)}
    folder = keep.folder / "sets" / of_value(present, 24)
    if folder.is_dir():
        return folder
    aside = keep.folder / "sets" / f".{secrets.token_hex(8)}"
    for name, sha256 in present.items():
        target = aside / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(os.path.relpath(keep.place(sha256), target.parent))
    aside.mkdir(parents=True, exist_ok=True)
    try:
        aside.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(aside)
    return folder
