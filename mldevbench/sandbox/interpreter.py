"""Finds the Python that a virtual environment stands on, so that both can be shown inside."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path

from mldevbench.errors import UserError


@dataclass(frozen=True)
class Interpreter:
    """A Python and the folders that it needs, at the same paths inside and outside."""

    python: str  # the plain interpreter, not the environment's
    prefixes: tuple[Path, ...]  # where it is installed; none if that is /usr itself

    @property
    def site_packages(self) -> tuple[Path, ...]:
        """What was installed beside the interpreter is not part of the task's environment."""
        found = {
            folder
            for prefix in self.prefixes
            for name in ("site-packages", "dist-packages")
            for folder in prefix.glob(f"lib*/python3*/{name}")
            if not folder.is_symlink()
        }
        return tuple(sorted(found))


def behind_all(venv: Path | None, agent_venv: Path | None) -> Interpreter:
    """Return the task's interpreter, with the folders that an agent's own Python needs besides."""
    task = behind(venv)
    if agent_venv is None:
        return task
    return Interpreter(task.python, tuple(sorted({*task.prefixes, *behind(agent_venv).prefixes})))


def behind(venv: Path | None) -> Interpreter:
    """Return the interpreter behind an environment; without one the system's, else our own."""
    if venv is None:
        system = Path("/usr/bin/python3")
        link = system if system.exists() else Path(sys.base_prefix) / "bin" / Path(sys.executable).name
    else:
        link = venv / "bin" / "python"
        if not link.exists():
            raise UserError(f"{venv} has no bin/python; make the task environment again")
    real = link.resolve()
    if venv is not None and venv in real.parents:  # a copy instead of a link
        real = (_home(venv) / "python3").resolve()
    outside = [hop for hop in (*_hops(link), real) if venv is None or venv not in hop.parents]
    prefixes = {hop.parent.parent for hop in outside} - {Path("/usr"), Path("/")}
    return Interpreter(str(real), tuple(sorted(prefixes)))


def _home(venv: Path) -> Path:
    for line in (venv / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home":
            return Path(value.strip())
    raise UserError(f"{venv}/pyvenv.cfg doesn't say where its Python is; make the task environment again")


def _hops(link: Path) -> list[Path]:
    """Return each path on the way from a link to the file, since the inside must have them all."""
    hops = [link]
    while hops[-1].is_symlink() and len(hops) < 40:
        hops.append(Path(normpath(hops[-1].parent / hops[-1].readlink())))
    return hops
