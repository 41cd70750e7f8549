"""Build an agent's venv once per node, under a name that says what is in it."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from mldevbench.agent_venv.file import VenvFile
from mldevbench.agent_venv.python import Python, find
from mldevbench.cache import cache_folder
from mldevbench.digest import of_value
from mldevbench.errors import UserError

Tell = Callable[[int, int, str], None]  # packages so far, of how many, what goes on


def silent(done: int, total: int, what: str) -> None:
    """Tell nobody."""


def wanted(folder: Path, file: VenvFile) -> list[str]:
    """Return the packages that the agent's requirements file names."""
    path = folder / file.requirements
    if not path.is_file():
        raise UserError(f"{path}: isn't there, but agent.yaml names it as the packages of the agent's venv")
    lines = (line.partition(" #")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def installed(folder: Path, file: VenvFile) -> Path | None:
    """Return the agent's venv on this machine, if there is one."""
    for version in file.python:
        place = _place(folder, file, version)
        if (place / ".ready").is_file() and (place / "bin" / "python").exists():
            return place.resolve()
    return None


def build(folder: Path, file: VenvFile, *, python: Path | None = None, tell: Tell = silent) -> Path:
    """Make the venv unless it is there; processes that ask at the same time wait for the first."""
    there = installed(folder, file)
    if there is not None:
        return there
    packages = wanted(folder, file)
    found = find(file.python, python)
    place = _place(folder, file, found.version)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        if installed(folder, file) is None:
            shutil.rmtree(place, ignore_errors=True)
            _install(place, found, folder / file.requirements, file, len(packages), tell)
            (place / ".ready").touch()
    return place.resolve()


def _place(folder: Path, file: VenvFile, version: str) -> Path:
    # A cache folder may be shared by nodes of different kinds.
    made_of = [wanted(folder, file), file.no_deps, version, platform.system(), platform.machine()]
    return cache_folder() / f"agent-venv-{of_value(made_of, 12)}"


def _install(place: Path, python: Python, requirements: Path, file: VenvFile, total: int, tell: Tell) -> None:
    tell(0, total, f"a venv of Python {python.version}")
    _run([str(python.path), "-m", "venv", str(place)], lambda line: None)
    words = [str(place / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    words += ["--no-deps"] if file.no_deps else []
    seen = 0

    def follow(line: str) -> None:
        nonlocal seen
        first, _, rest = line.partition(" ")
        if first == "Collecting":
            seen = min(seen + 1, total)
            tell(seen, total, rest.partition(" ")[0])
        elif line.startswith("Installing collected"):  # building a wheel installs things, too
            tell(total, total, "unpacking")

    _run([*words, "-r", str(requirements)], follow)
    # Sandboxes see the folder read-only, so the byte code must be there before; pip would use one core only.
    packages = place / "lib" / f"python{python.version}" / "site-packages"
    compiling = [str(place / "bin" / "python"), "-m", "compileall", "-qq", "-j", "0", str(packages)]
    subprocess.run(compiling, check=False, capture_output=True)


def _run(command: Sequence[str], follow: Callable[[str], None]) -> None:
    # Nothing of ours may leak in: neither our packages nor our venv.
    quiet = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    said: list[str] = []
    with subprocess.Popen(
        command, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said = [*said[-30:], line.strip()]
            follow(line.strip())
    if process.returncode:
        told = [line for line in said if line.startswith("ERROR")] or said or [f"exit code {process.returncode}"]
        raise UserError(f"installing failed at {' '.join(command[1:4])}: {told[-1]}")
