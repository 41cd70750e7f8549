"""The argument lists of the other walls, docker and apptainer, around the same keeper.

Neither forks from us: the keeper speaks through a unix socket in a folder that is bound into the container.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mldevbench.sandbox import gpu
from mldevbench.sandbox.bubblewrap import HOST_NAME, INNER_ID, INSIDE, KEEPER_INSIDE
from mldevbench.sandbox.protocol import SandboxSpec

CONTROL_INSIDE = "/run/control"
DEFAULT_IMAGE = "python:3.11-slim"


@dataclass(frozen=True)
class Container:
    """What a container is made of besides the sandbox's own description."""

    image: str
    name: str  # opaque
    keeper: Path
    control: Path  # the folder with the socket
    seccomp: Path | None = None  # docker's own form of the filter


def visible(spec: SandboxSpec, prefixes: Sequence[Path]) -> list[tuple[str, str]]:
    """Return what is bound read-only: task environment, its interpreter, task data."""
    paths = [*prefixes, *(venv for venv in (spec.venv, spec.agent_venv) if venv)]
    return [(str(path), str(path)) for path in paths] + [(str(b.source), b.target) for b in spec.readonly]


def docker_arguments(spec: SandboxSpec, container: Container, prefixes: Sequence[Path] = ()) -> list[str]:
    """Return `docker run …` up to the command."""
    limits = spec.limits
    words = [
        "docker", "run", "--rm", "--name", container.name, "--hostname", HOST_NAME, "--network", "none",
        "--ipc", "private", "--read-only", "--user", f"{INNER_ID}:{INNER_ID}", "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges", "--memory", f"{limits.memory_mb}m", "--memory-swap",
        f"{limits.memory_mb}m", "--pids-limit", str(limits.processes), "--ulimit", "core=0",
        "--ulimit", f"fsize={limits.disk_mb << 20}", "--shm-size", f"{limits.tmp_mb}m",
        "--tmpfs", f"/tmp:rw,nosuid,nodev,size={limits.tmp_mb}m,mode=1777", "--workdir", INSIDE,
    ]  # fmt: skip
    if container.seccomp is not None:
        words += ["--security-opt", f"seccomp={container.seccomp}"]
    words += ["--volume", f"{spec.workspace}:{INSIDE}:rw", "--volume", f"{container.control}:{CONTROL_INSIDE}:rw"]
    words += ["--volume", f"{container.keeper}:{KEEPER_INSIDE}:ro"]
    for source, target in visible(spec, prefixes):
        words += ["--volume", f"{source}:{target}:ro"]
    for bind in spec.sockets:
        words += ["--volume", f"{bind.source}:{bind.target}:rw"]
    for path in gpu.device_paths(spec.gpus):
        words += ["--device", path]
    return [*words, container.image]


def apptainer_arguments(spec: SandboxSpec, container: Container, prefixes: Sequence[Path] = ()) -> list[str]:
    """Return `apptainer exec …` up to the command."""
    limits = spec.limits
    words = [
        "apptainer", "exec", "--containall", "--cleanenv", "--no-home", "--no-eval", "--no-privs", "--net",
        "--network", "none", "--hostname", HOST_NAME, "--pid", "--ipc", "--uts", "--memory",
        f"{limits.memory_mb}M", "--memory-swap", f"{limits.memory_mb}M", "--pids-limit", str(limits.processes),
        "--pwd", INSIDE, "--bind", f"{spec.workspace}:{INSIDE}:rw", "--bind",
        f"{container.control}:{CONTROL_INSIDE}:rw", "--bind", f"{container.keeper}:{KEEPER_INSIDE}:ro",
    ]  # fmt: skip
    if container.seccomp is not None:
        words += ["--security", f"seccomp:{container.seccomp}"]
    for source, target in visible(spec, prefixes):
        words += ["--bind", f"{source}:{target}:ro"]
    for bind in spec.sockets:
        words += ["--bind", f"{bind.source}:{bind.target}:rw"]
    for path in gpu.device_paths(spec.gpus):
        words += ["--bind", f"{path}:{path}"]
    return [*words, container.image]
