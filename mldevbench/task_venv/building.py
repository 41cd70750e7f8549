"""Build the task venv once per machine, under a name that says what is in it."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

from mldevbench.cache import cache_folder
from mldevbench.digest import of_value
from mldevbench.errors import UserError

HERE = Path(__file__).parent
TORCH = "torch>=2.10,<2.14"
UNPINNED = (
    "torchvision",
    "timm",
)  # installed without dependencies: they would replace torch by another build


def lock() -> str:
    """Return the digest of what a task venv is made from; it is part of every task's digest."""
    wanted = [path.read_text(encoding="utf-8") for path in (HERE / "requirements.txt", HERE / "torchvision_stub.py")]
    return of_value([wanted, TORCH, UNPINNED, sys.version_info[:2]], 12)


def path() -> Path:
    """Return where the task venv is, or say how to make it."""
    venv = _place()
    if not (venv / ".ready").is_file():
        raise UserError("the task venv isn't built on this machine; run 'mldevbench doctor --fix' or 'make setup'")
    return venv.resolve()


def python_home(venv: Path) -> Path:
    """Return the prefix of the interpreter that a venv points to."""
    for line in (venv / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
        if line.startswith("home = "):
            return Path(line.removeprefix("home = ")).resolve().parent
    raise UserError(f"{venv}: pyvenv.cfg names no home; remove the folder and run 'make setup'")


def build(constraints: Path | None = None) -> Path:
    """Make the task venv unless it is there; processes that ask at the same time wait for the first."""
    venv = _place()
    venv.parent.mkdir(parents=True, exist_ok=True)
    with venv.with_suffix(".lock").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        if not (venv / ".ready").is_file():
            shutil.rmtree(venv, ignore_errors=True)
            _install(venv, ["-c", str(constraints)] if constraints else [])
            (venv / ".ready").touch()
    return venv


def _place() -> Path:
    return cache_folder() / f"task-venv-{lock()}"


def _install(venv: Path, pins: list[str]) -> None:
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    interpreter = str(base) if base.is_file() else getattr(sys, "_base_executable", sys.executable)
    _run([interpreter, "-m", "venv", str(venv)])
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    _run([*pip, "--upgrade", "pip"])
    _run([*pip, *pins, TORCH])
    _run([*pip, *pins, TORCH, "-r", str(HERE / "requirements.txt")])
    _run([*pip, "--no-deps", *UNPINNED])
    packages = venv / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    shutil.copyfile(HERE / "torchvision_stub.py", packages / "torchvision_stub.py")
    (packages / "torchvision_stub.pth").write_text("import torchvision_stub\n", encoding="utf-8")
    # Sandboxes see the folder read-only, so the byte code must be there before.
    subprocess.run([str(venv / "bin" / "python"), "-m", "compileall", "-qq", "-j", "0", str(packages)], check=False)


def _run(command: list[str]) -> None:
    quiet = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise UserError(
            f"building the task venv failed at {' '.join(command[:5])}: {said[-1] if said else done.returncode}"
        )
