"""One test for each hole that was once found in a sandbox of this kind."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox.conftest import OpenCage, said
from sandbox.test_intruder import attack

from mldevbench.sandbox import bubblewrap, seccomp
from mldevbench.sandbox.cage import Cage
from mldevbench.sandbox.interpreter import behind
from mldevbench.sandbox.opening import opaque_folder
from mldevbench.sandbox.protocol import Bind

SECRET = "sk-this-must-stay-outside"


def test_no_environment_of_ours_shows_in_proc(open_cage: OpenCage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    cage = open_cage()
    assert SECRET not in said(
        cage, "cat /proc/*/environ /proc/*/cmdline /proc/*/task/*/environ 2>/dev/null | tr '\\0' '\\n'"
    )
    assert "Permission denied" in said(cage, "cat /proc/1/environ")


@pytest.mark.parametrize("name", ["environ", "mem", "maps", "fd/0", "root/etc", "cwd/", "exe", "map_files", "io"])
def test_the_keeper_is_closed(cage: Cage, name: str) -> None:
    assert "Permission denied" in said(cage, f"ls /proc/1/{name} > /dev/null && head -c 1 /proc/1/{name}")


def test_process_1_says_nothing_about_the_host(cage: Cage) -> None:
    words = said(cage, "tr '\\0' ' ' < /proc/1/cmdline")
    assert "keeper.py" in words
    assert str(cage.spec.workspace) not in words
    assert "mldevbench" not in words


def test_an_inheritable_descriptor_stays_outside(open_cage: OpenCage, tmp_path: Path) -> None:
    labels = tmp_path / "labels"
    labels.write_text("the held-out labels")
    descriptor = os.open(labels, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        shown = said(open_cage(), f"ls -l /proc/self/fd/ /proc/$$/fd/; cat <&{descriptor}")
    finally:
        os.close(descriptor)
    assert "labels" not in shown
    assert "Bad file descriptor" in shown


def test_the_mount_table_names_nothing(open_cage: OpenCage, scratch: Path, tmp_path: Path) -> None:
    script = tmp_path / "seed3-attempt2.py"
    script.write_text("print('ran')")
    data = opaque_folder(scratch)
    (data / "x").write_text("data")
    binds = (Bind(script, "/run/script.py"), Bind(data, "/data"))
    cage = open_cage(readonly=binds)
    table = said(cage, "cat /proc/self/mountinfo /proc/self/mounts /proc/self/mountstats")
    assert "seed3" not in table and str(tmp_path) not in table
    assert str(Path(bubblewrap.__file__).parent) not in table
    assert said(cage, "python3 /run/script.py; cat /data/x") == "ran\ndata"
    assert "Read-only" in said(cage, "touch /data/y; echo >> /run/script.py")


def test_host_name_and_user_say_nothing(open_cage: OpenCage) -> None:
    first, second = open_cage(), open_cage()
    assert said(first, "hostname") == said(second, "hostname") == "sandbox\n"
    assert said(first, "id -un") == "agent\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give each sandbox a user id of its own")
def test_every_sandbox_has_a_user_of_its_own(open_cage: OpenCage) -> None:
    users = {said(open_cage(), "id -u") for _ in range(4)}
    assert len(users) == 4
    assert all(int(user) not in (0, 65534) for user in users)


def test_only_named_paths_are_visible(cage: Cage) -> None:
    top = set(said(cage, "ls -A /").split())
    named = {
        "bin",
        "dev",
        "etc",
        "lib",
        "lib32",
        "lib64",
        "proc",
        "run",
        "sbin",
        "sys",
        "tmp",
        "usr",
        "var",
        "workspace",
    }
    interpreters = {path.parts[1] for path in behind(None).prefixes}
    assert top <= named | interpreters
    etc = set(said(cage, "ls -A /etc").split())
    assert not etc & {"shadow", "hostname", "fstab", "machine-id", "resolv.conf", "ssh", "environment"}


def test_our_package_and_repository_are_not_there(open_cage: OpenCage, task_venv: Path) -> None:
    cage = open_cage(venv=task_venv)
    for name in ("mldevbench", "cluster", "ray", "litellm"):
        done = cage.run(["python", "-c", f"import {name}"], seconds=60)
        assert done.exit_code == 1 and b"ModuleNotFoundError" in done.output
    assert cage.run(["python", "-c", "import sys; print(sys.prefix)"], seconds=60).output.decode().strip() == str(
        task_venv
    )
    repository = Path(__file__).parents[2]
    assert cage.run(["ls", str(repository / "tasks")], seconds=60).exit_code == 2


@pytest.mark.slow
def test_a_search_of_all_files_with_the_task_venv_finds_nothing(open_cage: OpenCage, task_venv: Path) -> None:
    notes, _ = attack(open_cage(venv=task_venv), search_seconds=200)
    assert notes == []


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_host_network_is_out_of_reach(cage: Cage, listener: int) -> None:
    assert "refused" in said(cage, f"exec 3<>/dev/tcp/127.0.0.1/{listener}")
    assert said(cage, "ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1").split() == ["lo"]
    assert "unreachable" in said(cage, "exec 3<>/dev/tcp/169.254.169.254/80").lower()


def test_a_named_socket_is_the_one_door(open_cage: OpenCage, scratch: Path) -> None:
    address = opaque_folder(scratch) / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(address))
        server.listen(1)
        cage = open_cage(sockets=(Bind(address, "/run/door.sock"),))
        script = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/door.sock'); s.send(b'knock')"
        assert cage.run(["python3", "-c", script], seconds=60).exit_code == 0
        server.settimeout(10)
        connection, _ = server.accept()
        assert connection.recv(10) == b"knock"
        connection.close()


@pytest.mark.parametrize("name", sorted(set(seccomp.DENIED) - {"open_tree_attr"}))
def test_a_denied_call_is_refused(cage: Cage, name: str) -> None:
    import platform

    number = seccomp.DENIED[name][seccomp.ARCHITECTURES[platform.machine()][0]]
    # Arguments that no kernel accepts: what passes the filter fails otherwise, or not for want of permission.
    script = (
        "import ctypes; c = ctypes.CDLL(None, use_errno=True); "
        f"print(c.syscall({number}, -1, -1, -1, -1, -1), ctypes.get_errno())"
    )
    assert cage.run(["python3", "-c", script], seconds=60).output == b"-1 1\n"


def test_the_filter_reads_arguments(cage: Cage) -> None:
    script = """if True:
        import ctypes, errno, os, resource, socket, threading
        c = ctypes.CDLL(None, use_errno=True)
        def number(*a):
            r = c.syscall(*a)
            return errno.errorcode[ctypes.get_errno()] if r < 0 else "ok"
        x86 = os.uname().machine == "x86_64"
        print(number(435, None, 0), number(56 if x86 else 220, 0x10000011, None, None, None, None))
        print(number(302 if x86 else 261, 1, 7, None, None))
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        for family in (40, 38, 17):
            try: socket.socket(family, socket.SOCK_STREAM)
            except OSError as error: print(errno.errorcode[error.errno])
        socket.socket(socket.AF_INET), socket.socket(socket.AF_UNIX)
        t = threading.Thread(target=print, args=("thread",)); t.start(); t.join()
        print(os.waitstatus_to_exitcode(os.system("exit 3")))
    """
    lines = cage.run(["python3", "-W", "ignore", "-c", script], seconds=60).output.decode().split()
    assert lines == ["ENOSYS", "EPERM", "EPERM", *["EAFNOSUPPORT"] * 3, "thread", "3"]


def test_a_command_cannot_forge_how_it_ended(cage: Cage) -> None:
    """No marker to print, no parent to kill: the exit code comes from the kernel."""
    script = (
        "kill -9 $PPID 1; kill -STOP 1; echo exit 1 0; for f in /proc/*/fd/*; do echo 'exit 1 0' > $f; done; exit 9"
    )
    assert cage.run(["bash", "-c", script], seconds=60).exit_code == 9
    said(cage, "(setsid sleep 100 &); kill -9 -1")  # everybody but itself and process 1
    assert said(cage, "echo alive") == "alive\n"


HOLES = {
    "forbidden_calls": lambda patch: patch.setattr(seccomp, "program", lambda: seccomp.instruction(6, seccomp.ALLOW)),
    "loopback_of_the_host": lambda patch: without(patch, "--unshare-net"),
    "host_name": lambda patch: patch.setattr(bubblewrap, "HOST_NAME", "worker-17"),
    "repository": lambda patch: showing(patch, Path(__file__).parents[2]),
    "write_outside": lambda patch: without(patch, "--remount-ro", "/"),
}


def without(patch: pytest.MonkeyPatch, *words: str) -> None:
    """Leave some of bwrap's arguments out."""
    add = bubblewrap.Arguments.add

    def weaker(self: bubblewrap.Arguments, *given: str | Path) -> None:
        if [str(word) for word in given] != list(words):
            add(self, *(word for word in given if len(words) > 1 or word not in words))

    patch.setattr(bubblewrap.Arguments, "add", weaker)


def showing(patch: pytest.MonkeyPatch, folder: Path) -> None:
    extras = bubblewrap.extras

    def more(arguments: bubblewrap.Arguments, spec: object) -> None:
        extras(arguments, spec)  # pyright: ignore
        arguments.bind("--ro-bind", folder, folder)

    patch.setattr(bubblewrap, "extras", more)


@pytest.mark.parametrize("name", HOLES)
def test_the_intruder_finds_a_hole_that_is_made(
    open_cage: OpenCage, monkeypatch: pytest.MonkeyPatch, listener: int, name: str
) -> None:
    if name == "write_outside" and os.geteuid() == 0:
        pytest.skip("the inner user of a sandbox that root opens owns no such folder")
    HOLES[name](monkeypatch)
    notes, _ = attack(open_cage(), search_seconds=0, port=listener)
    assert any(note.startswith(f"achieved {name}:") for note in notes), notes
