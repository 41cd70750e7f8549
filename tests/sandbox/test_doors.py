"""Doors: ports of the sandbox's own loopback on which we answer from outside."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from mldevbench.sandbox import SandboxSpec
from mldevbench.sandbox.cage import Cage
from mldevbench.sandbox.opening import open_sandbox

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n"


def answering(cage: Cage) -> Callable[[], None]:
    """Answer with the door's number until told to end."""
    threads = []
    for number, listener in enumerate(cage.listeners):
        listener.settimeout(60)

        def serve(listener=listener, number=number) -> None:
            try:
                while True:
                    client, _ = listener.accept()
                    client.recv(1000)
                    client.sendall(ANSWER + b"%03d" % number)
                    client.close()
            except OSError:
                pass

        threads.append(threading.Thread(target=serve, daemon=True))
        threads[-1].start()

    def end() -> None:
        for listener in cage.listeners:
            listener.shutdown(2)
        for thread in threads:
            thread.join(60)

    return end


def test_each_door_leads_to_its_own_listener_and_no_inmate_can_shut_it(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    with open_sandbox(SandboxSpec(tmp_path / "workspace", doors=(8181, 8182)), "bubblewrap") as cage:
        end = answering(cage)
        asked = "curl -s http://127.0.0.1:8181/; curl -s http://127.0.0.1:8182/"
        assert cage.run(["bash", "-c", asked], seconds=60).output == b"000001"
        cage.run(["bash", "-c", "kill -9 -1"], seconds=60)
        assert cage.run(["bash", "-c", asked], seconds=60).output == b"000001"
        assert cage.run(["curl", "-s", "http://127.0.0.1:8183/"], seconds=60).exit_code == 7
        end()


def test_two_sandboxes_have_the_same_port_and_different_doors(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with (
        open_sandbox(SandboxSpec(tmp_path / "one", doors=(8181,)), "bubblewrap") as first,
        open_sandbox(SandboxSpec(tmp_path / "two", doors=(8181,)), "bubblewrap") as second,
    ):
        end = answering(first)
        assert first.run(["curl", "-s", "http://127.0.0.1:8181/"], seconds=60).output == b"000"
        assert second.run(["curl", "-s", "-m", "2", "http://127.0.0.1:8181/"], seconds=60).exit_code == 28
        end()


def test_without_doors_nothing_listens(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    with open_sandbox(SandboxSpec(tmp_path / "workspace"), "bubblewrap") as cage:
        assert cage.listeners == ()
        done = cage.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"], seconds=60)
        assert done.output.decode().count("\n") == 2, done.output
