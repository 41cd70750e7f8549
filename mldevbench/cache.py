"""Where this machine keeps what can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return MLDEVBENCH_CACHE, else the user's cache folder."""
    chosen = os.environ.get("MLDEVBENCH_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mldevbench"
