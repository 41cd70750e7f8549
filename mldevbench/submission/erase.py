"""Removes a folder that untrusted code has filled: deeper than Python's recursion and descriptors reach."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path


def erase(folder: Path) -> None:
    """Remove a folder with all that is in it; what can't be removed is left."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        subprocess.run(["/bin/rm", "-rf", "--", str(folder)], check=False, capture_output=True)
