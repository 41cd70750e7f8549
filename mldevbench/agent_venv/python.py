"""Finds a Python of a wanted version on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mldevbench.errors import UserError

ASK = "import sys; print(sys.version_info[0], sys.version_info[1], getattr(sys, '_base_executable', sys.executable))"


@dataclass(frozen=True)
class Python:
    version: str  # such as 3.12
    path: Path  # the interpreter itself: no shim, no venv


def find(versions: Sequence[str], given: Path | None = None) -> Python:
    """Return the first that works, or say which are missing."""
    if given is not None:
        python = ask(given)
        if python is None or python.version not in versions:
            seen = f"is Python {python.version}" if python else "can't be run"
            raise UserError(f"--python {given}: {seen}; Python {' or '.join(versions)} is needed")
        return python
    for version in versions:
        for candidate in candidates(version):
            python = ask(candidate)
            if python is not None and python.version == version:
                return python
    raise UserError(
        f"Python {' or '.join(versions)} isn't found (looked on PATH and among pyenv's and uv's); "
        f"install it, for example with 'pyenv install {versions[0]}', or give --python PATH"
    )


def candidates(version: str) -> Iterator[Path]:
    """Yield where such a Python may be; a shim on PATH may answer or refuse."""
    yield Path(sys.base_prefix) / "bin" / f"python{version}"
    found = shutil.which(f"python{version}")
    if found:
        yield Path(found)
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python")
    for folder in sorted([*pyenv.glob(f"{version}*"), *uv.glob(f"cpython-{version}*")], reverse=True):
        yield folder / "bin" / f"python{version}"


def ask(path: Path) -> Python | None:
    """Let an interpreter say which it is; None if it can't."""
    if shutil.which(str(path)) is None:
        return None
    quiet = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run([str(path), "-IS", "-c", ASK], capture_output=True, text=True, env=quiet, check=False)
    words = done.stdout.split(maxsplit=2)
    if done.returncode or len(words) != 3:
        return None
    return Python(f"{words[0]}.{words[1]}", Path(words[2].strip()).resolve())
