"""The same tests again as an ordinary user, for whom bubblewrap needs a user namespace."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mldevbench.cache import cache_folder

ORDINARY = 1000
HERE = Path(__file__).parent
FILES = (
    "test_commands.py",
    "test_doors.py",
    "test_holes.py",
    "test_limits.py",
    "test_intruder.py",
    "test_supervisor.py",
    "test_warm_shell.py",
    "test_zygote.py",
)

# In a mount namespace of its own, what root keeps in a closed home is shown at the same path under open folders.
SCRIPT = """
set -e
mount --make-rprivate /
stash=$1; closed=$2; shift 2
count=0
for path in $SHOWN; do
    count=$((count + 1)); mkdir -p "$stash/$count"; mount --bind "$path" "$stash/$count"
done
if [ -n "$closed" ]; then
    mount -t tmpfs -o mode=755 tmpfs "$closed"
    count=0
    for path in $SHOWN; do
        count=$((count + 1)); mkdir -p "$path"; mount --bind "$stash/$count" "$path"
    done
fi
unset SHOWN
exec setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
"""


def closed_ancestor(path: Path) -> Path | None:
    """Return the first folder on the way to a path that others may not pass."""
    folders = [folder for folder in reversed(path.parents) if folder.exists()]
    return next((folder for folder in folders if not folder.stat().st_mode & stat.S_IXOTH), None)


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=""))
    os.chown(folder, ORDINARY, ORDINARY)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def command(home: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """Return how to run something as the ordinary user, with every Python that it needs in reach."""
    needed = {Path(sys.base_prefix), Path(sys.prefix), cache_folder(), HERE.parents[1]}
    hidden = sorted(path for path in needed if closed_ancestor(path) is not None)
    closed = {closed_ancestor(path) for path in hidden}
    if len(closed) > 1:
        pytest.skip("the interpreter is kept in more than one closed folder")
    stash = tempfile.mkdtemp(dir=home)
    ancestor = str(next(iter(closed), None) or "")
    variables = {
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(home),
        "TMPDIR": str(home),
        "MLDEVBENCH_CACHE": str(cache_folder()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SHOWN": " ".join(map(str, hidden)),
    }
    return ["unshare", "-m", "bash", "-c", SCRIPT, "bash", stash, ancestor, *words], variables


@pytest.fixture(autouse=True)
def possible(home: Path) -> None:
    """Skip with the machine's own reason where an ordinary user can't have a sandbox."""
    if os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user anyway")
    question = "from mldevbench.sandbox.opening import available; print(available('bubblewrap') or '')"
    argv, variables = command(home, sys.executable, "-c", question)
    done = subprocess.run(argv, env=variables, cwd=HERE.parents[1], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    if done.stdout.strip():
        pytest.skip(done.stdout.strip())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", FILES)
def test_again_as_an_ordinary_user(home: Path, name: str) -> None:
    words = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", "-rs", str(HERE / name)]
    argv, variables = command(home, *words)
    done = subprocess.run(argv, env=variables, cwd=HERE.parents[1], capture_output=True, text=True, timeout=800)
    print(done.stdout[-6000:], done.stderr[-2000:])
    assert done.returncode == 0
    assert " passed" in done.stdout or "100%" in done.stdout
