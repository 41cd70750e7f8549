"""The files that a profile's `assets` name, once the harness has fetched and verified them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.errors import UserError


def asset(profile: Mapping[str, Any], name: str) -> Path:
    """Return one fetched file; the harness tells their folder as the profile's value `assets`."""
    folder = profile.get("assets")
    if folder is None or not (Path(folder) / name).is_file():
        raise UserError(f"the asset {name!r} isn't on this machine; run 'mldevbench assets fetch'")
    return Path(folder) / name
