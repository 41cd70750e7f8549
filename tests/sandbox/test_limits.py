"""Each limit, broken on purpose beside a neighbour that must not notice; by control group and without one."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path

import pytest
from sandbox.conftest import OpenCage, namespace_of, said

from mldevbench.records import StopReason
from mldevbench.sandbox import cgroup
from mldevbench.sandbox.cage import Cage
from mldevbench.sandbox.disk import measure
from mldevbench.sandbox.protocol import Limits

LIMITS = Limits(memory_mb=256, processes=64, disk_mb=32, tmp_mb=16, output_mb=4, files=500)
NEIGHBOUR = "for i in $(seq 20); do (true) || exit 1; sleep 0.05; done; echo x > own && echo fine"

FORK_BOMB = "import os\nwhile True:\n try: os.fork()\n except OSError: pass"
MEMORY_HOG = "import time\nhold = []\nwhile True:\n hold.append(bytearray(8 << 20)); time.sleep(0.02)"
SEVERAL_HOGS = (
    "import os, time\nfor _ in range(4): os.fork()\nhold = []\n"
    "while True:\n hold.append(bytearray(1 << 20)); time.sleep(0.02)"
)
DISK_FILLER = "import itertools\nfor n in itertools.count(): open(f'f{n}', 'wb').write(bytes(1 << 20))"
ONE_BIG_FILE = "file = open('big', 'wb')\nwhile True: file.write(bytes(1 << 20))"
INODE_FILLER = "import itertools\nfor n in itertools.count(): open(f'f{n}', 'w').close()"
NAMELESS = (
    "import os, tempfile, time\nheld = []\n"
    "while True:\n held.append(tempfile.TemporaryFile(dir='.')); held[-1].write(bytes(8 << 20)); held[-1].flush()\n"
)
DEEP_FOLDERS = "import os\nfor n in range(300): os.mkdir('d'); os.chdir('d')\nimport time; time.sleep(60)"
PRINTER = "while True: print('x' * 4096)"


@pytest.fixture(params=[True, False], ids=["cgroup", "weak"])
def cgroups(request: pytest.FixtureRequest) -> bool:
    if request.param and (group := cgroup.make(LIMITS)) is None:
        pytest.skip("no control group can be made here")
    elif request.param:
        group.remove()
    return request.param


def python(script: str) -> list[str]:
    return ["python3", "-c", script]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (FORK_BOMB, StopReason.PROCESSES),
        (MEMORY_HOG, StopReason.MEMORY),
        (SEVERAL_HOGS, StopReason.MEMORY),
        (DISK_FILLER, StopReason.DISK),
        (ONE_BIG_FILE, StopReason.DISK),
        (INODE_FILLER, StopReason.DISK),
        (NAMELESS, StopReason.DISK),
        (DEEP_FOLDERS, StopReason.DISK),
        (PRINTER, StopReason.OUTPUT),
    ],
    ids=["fork bomb", "memory", "memory of several", "disk", "one file", "inodes", "nameless files", "depth", "output"],
)
def test_a_breach_is_named_and_ends_the_sandbox(
    open_cage: OpenCage, cgroups: bool, script: str, reason: StopReason
) -> None:
    bad, neighbour = open_cage(limits=LIMITS, cgroups=cgroups), open_cage(limits=LIMITS, cgroups=cgroups)
    assert bad.limits == ("cgroup" if cgroups else "weak")
    namespace = namespace_of(bad)
    bad.spawn(["bash", "-c", NEIGHBOUR.replace("own", "bystander")], log="log")
    done = bad.run(python(script), seconds=60)
    assert not done.timed_out
    assert ended(bad) == reason
    assert said(neighbour, NEIGHBOUR) == "fine\n"
    assert neighbour.breach() is None
    bad.close()
    assert namespace.members() == []
    assert bad.wall.cgroup is None or not bad.wall.cgroup.processes.exists()


def ended(cage: Cage) -> StopReason | None:
    """Return the breach once the keeper, and with it everything inside, has gone."""
    poll = select.poll()
    poll.register(cage.pidfd, select.POLLIN)
    assert poll.poll(30_000), "the sandbox goes on"
    return cage.breach()


@pytest.mark.slow
def test_a_neighbour_runs_while_a_fork_bomb_does(open_cage: OpenCage, cgroups: bool) -> None:
    bad, neighbour = open_cage(limits=LIMITS, cgroups=cgroups), open_cage(limits=LIMITS, cgroups=cgroups)
    bad.spawn(python(FORK_BOMB), log="log")
    assert said(neighbour, NEIGHBOUR) == "fine\n"


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_a_full_temporary_folder_is_an_error_inside_only(open_cage: OpenCage, cgroups: bool, folder: str) -> None:
    cage = open_cage(limits=LIMITS, cgroups=cgroups)
    done = cage.run(["dd", "if=/dev/zero", f"of={folder}/fill", "bs=1M", "count=64"], seconds=60)
    assert done.exit_code == 1
    assert b"No space left" in done.output
    assert cage.breach() is None
    assert said(open_cage(limits=LIMITS, cgroups=cgroups), f"dd if=/dev/zero of={folder}/x bs=1M count=1; ls {folder}")


def test_no_other_file_system_can_be_filled(open_cage: OpenCage) -> None:
    script = (
        "for d in / /dev /etc /run /var /usr/local /proc /sys /root /mnt; do touch $d/x 2>/dev/null && echo $d; done"
    )
    assert said(open_cage(limits=LIMITS), script) == ""


def test_memory_without_a_name_counts(open_cage: OpenCage) -> None:
    """An anonymous file in memory shows in no folder and in no process's resident set."""
    hog = (
        "import os, time\nheld = []\n"
        "while True:\n d = os.memfd_create('x'); os.write(d, bytes(16 << 20)); held.append(d); time.sleep(0.05)"
    )
    cage = open_cage(limits=LIMITS, cgroups=False)
    cage.run(python(hog), seconds=60)
    assert ended(cage) == StopReason.MEMORY


def test_a_sleeper_is_stopped_by_its_time(open_cage: OpenCage) -> None:
    cage = open_cage()
    done = cage.run(["sleep", "1000"], seconds=0.5)
    assert done.timed_out and done.exit_code is None
    assert cage.breach() is None


def test_one_thread_too_many_is_no_breach(open_cage: OpenCage, cgroups: bool) -> None:
    script = (
        "import os, time\nchildren = []\n"
        "try:\n while True:\n  pid = os.fork()\n  if not pid: time.sleep(30)\n  children.append(pid)\n"
        "except OSError: print('refused')\nfor pid in children: os.kill(pid, 9)\n"
    )
    cage = open_cage(limits=LIMITS, cgroups=cgroups)
    assert cage.run(python(script), seconds=60).output == b"refused\n"
    assert cage.breach() is None


def test_a_command_after_the_end_says_so(open_cage: OpenCage) -> None:
    cage = open_cage(limits=LIMITS)
    cage.run(python(PRINTER), seconds=60)
    ended(cage)
    done = cage.run(["true"], seconds=5)
    assert done.exit_code == 137
    assert b"output" in done.output
    assert cage.spawn(["true"], log="x") == 0


def test_measuring_follows_nothing_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "huge").write_bytes(bytes(1 << 20))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "file").write_bytes(bytes(8192))
    os.link(folder / "file", folder / "again")
    with (folder / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    found = measure(folder, 100)
    assert found.files == 4
    assert 8192 <= found.size < 1 << 16
    assert measure(folder, 2).files == 3


def test_a_disk_breach_between_two_looks_is_found_at_the_end(open_cage: OpenCage) -> None:
    cage = open_cage(limits=LIMITS)
    cage.run(["dd", "if=/dev/zero", "of=fill", "bs=1M", "count=33"], seconds=60)
    cage.close()
    assert cage.breach() == StopReason.DISK


def test_a_keeper_that_was_ended_is_not_our_fault(open_cage: OpenCage) -> None:
    """Under the weak sandbox a command can end its keeper; it must not win a second chance by it."""
    cage = open_cage("process")
    done = cage.run(["bash", "-c", "(setsid sleep 300 &); kill -9 $PPID; sleep 60"], seconds=60)
    assert done.exit_code == 137
    assert cage.breach() == StopReason.AGENT_ERROR
    mark = cage.wall.environment["MLDEVBENCH_SANDBOX"]
    cage.close()
    from mldevbench.sandbox.process import marked

    deadline = time.monotonic() + 10
    while list(marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(marked(mark)) == []
