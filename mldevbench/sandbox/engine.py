"""Opens docker and apptainer containers around the keeper, which connects back through a bound socket."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import tempfile
from pathlib import Path

from mldevbench.errors import Fault
from mldevbench.sandbox.bubblewrap import (
    INNER_ID,
    INSIDE,
    KEEPER_INSIDE,
    environment,
    hand_over,
    keeper_command,
    make_passable,
)
from mldevbench.sandbox.cage import Cage, Wall
from mldevbench.sandbox.container import (
    CONTROL_INSIDE,
    DEFAULT_IMAGE,
    Container,
    apptainer_arguments,
    docker_arguments,
)
from mldevbench.sandbox.interpreter import behind_all
from mldevbench.sandbox.launch import KEEPER, READY_SECONDS, Launched, listening, wait_ready
from mldevbench.sandbox.protocol import SandboxSpec
from mldevbench.sandbox.rlimit import rlimits
from mldevbench.sandbox.starter import Start, start

BUILDERS = {"docker": docker_arguments, "apptainer": apptainer_arguments}


def open_container(spec: SandboxSpec, isolation: str, image: str = DEFAULT_IMAGE) -> Cage:
    """Start a container and wait until its keeper has called."""
    folder = Path(tempfile.mkdtemp())
    interpreter = behind_all(spec.venv, spec.agent_venv)
    keeper = folder / "keeper.py"
    shutil.copyfile(KEEPER, keeper)
    root = os.geteuid() == 0
    if root:
        hand_over(spec.workspace, INNER_ID)
        hand_over(folder, INNER_ID)
    container = Container(image, secrets.token_hex(8), keeper, folder)
    words = BUILDERS[isolation](spec, container, interpreter.prefixes)
    bounds = rlimits(spec.limits, weak=False)
    socket_inside = f"{CONTROL_INSIDE}/socket"
    command = keeper_command(interpreter.python, KEEPER_INSIDE, socket_inside, 0, INSIDE, bounds, spec.doors)
    try:
        launched = _call_back(folder / "socket", [*words, *command])
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    undo = [lambda: shutil.rmtree(folder, ignore_errors=True)]
    undo.append(lambda: hand_over(spec.workspace, 0) if root else make_passable(spec.workspace))
    return Cage(spec, Wall(isolation, INSIDE, environment(spec, INSIDE), launched, INNER_ID, None, undo))


def _call_back(address: Path, argv: list[str]) -> Launched:
    """Start a program whose keeper connects to `address`."""
    complaints, stderr = os.pipe2(os.O_CLOEXEC)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind(str(address))
        address.chmod(0o666)
        door.listen(1)
        door.settimeout(READY_SECONDS)
        variables = (("PATH", "/usr/local/bin:/usr/bin:/bin"),)
        program = start(Start(argv, (), stderr, variables))
        os.close(stderr)
        try:
            control, _ = door.accept()
            pidfd, *listeners = wait_ready(control, complaints)
            return Launched(control, pidfd, program, listening(listeners))
        except TimeoutError as error:
            program.send_signal(signal.SIGKILL)
            program.wait()
            raise Fault("sandbox_error", f"{argv[0]} didn't start in {READY_SECONDS:.0f} s") from error
        except BaseException:
            program.kill()
            program.wait()
            raise
        finally:
            os.close(complaints)
