"""Real sandboxes for tests, closed and removed whatever happens."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mldevbench.sandbox.cage import Cage
from mldevbench.sandbox.opening import available, opaque_folder, open_sandbox
from mldevbench.sandbox.protocol import Limits, SandboxSpec
from mldevbench.sandbox.zygote import Zygote

OpenCage = Callable[..., Cage]


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder whose path says nothing, as a run's would."""
    folder = Path(tempfile.mkdtemp(prefix=""))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def zygote(task_venv: Path) -> Iterator[Zygote]:
    with Zygote(task_venv) as warm:
        if not warm.ready():
            pytest.skip("no zygote can be had on this machine")
        yield warm


@pytest.fixture
def open_cage(scratch: Path) -> Iterator[OpenCage]:
    opened: list[Cage] = []

    def open_one(isolation: str = "bubblewrap", *, cgroups: bool = True, **fields: object) -> Cage:
        problem = available(isolation)
        if problem is not None:
            pytest.skip(problem)
        fields.setdefault("workspace", opaque_folder(scratch))
        fields.setdefault("limits", Limits(tmp_mb=32))
        opened.append(open_sandbox(SandboxSpec(**fields), isolation, cgroups=cgroups))  # pyright: ignore
        return opened[-1]

    yield open_one
    for cage in opened:
        cage.close()


@pytest.fixture
def cage(open_cage: OpenCage) -> Cage:
    return open_cage()


def said(cage: Cage, script: str, seconds: float = 60.0) -> str:
    """Return what a shell line prints inside."""
    return cage.run(["bash", "-c", script], seconds=seconds).output.decode()


class Namespace:
    """A process namespace, held open: the number of one that has gone may be the next sandbox's."""

    def __init__(self, pid: int) -> None:
        self._held = os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self.inode = os.fstat(self._held).st_ino

    def __del__(self) -> None:
        os.close(self._held)

    def members(self) -> list[int]:
        """Return the processes of this machine that live in it."""
        found: list[int] = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    if (folder / "ns" / "pid").stat().st_ino == self.inode:
                        found.append(int(folder.name))
                except OSError:
                    continue
        return found


def namespace_of(cage: Cage) -> Namespace:
    return Namespace(cage.wall.launched.pid)
