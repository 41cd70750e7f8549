"""The GPUs that an actor holds: which they are, whether a run would see them, and whether the last one let them go."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import ray

from mldevbench.sandbox.gpu import DRIVER, minors_of, seen_gpus
from mldevbench.sandbox.opening import open_sandbox
from mldevbench.sandbox.protocol import SandboxSpec

SLACK_MB = 64.0
LOOK = "import torch; print(torch.cuda.device_count(), torch.version.cuda)"
LOOK_SECONDS = 180.0


def held_names() -> tuple[str, ...]:
    """Return the names by which Ray calls the GPUs of this actor: numbers, or UUIDs where the node was given such."""
    return tuple(str(name) for name in ray.get_gpu_ids())


def held_gpus() -> tuple[int, ...]:
    """Return the minors of the GPUs that this actor holds."""
    return minors_of(held_names())


def unseen(names: Sequence[str], isolation: str, venv: Path, real: bool | None = None) -> str:
    """Say why a run would not see these GPUs, with the remedy; nothing if it would, or if they are simulated."""
    if not names or not (DRIVER.exists() if real is None else real):
        return ""
    minors, environment = seen_gpus(minors_of(names), real=True)
    with tempfile.TemporaryDirectory(prefix="mldevbench-") as folder:
        sandbox = open_sandbox(SandboxSpec(Path(folder), venv=venv, environment=environment, gpus=minors), isolation)
        try:
            done = sandbox.run(["python", "-c", LOOK], seconds=LOOK_SECONDS)
        finally:
            sandbox.close()
    return complaint_about(done.output.decode(errors="replace"), len(names), venv)


def complaint_about(output: str, held: int, venv: Path) -> str:
    """Say what is wrong with what torch saw, or nothing."""
    words = output.split()
    if words[:1] == [str(held)]:
        return ""
    if words[1:] == ["None"]:
        return f"holds GPUs, and torch in {venv} is built without CUDA; install a CUDA build of it there"
    last = (output.strip() or "no answer").splitlines()[-1]
    return f"torch in a sandbox doesn't see the {held} GPUs that are held ({last}); look at 'nvidia-smi' there"


def memory_mb(names: Sequence[str]) -> float:
    """Return the memory in use on these GPUs; 0 where none can be asked."""
    program = shutil.which("nvidia-smi")
    if not names or program is None:
        return 0.0
    command = [program, "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", ",".join(names)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return sum(float(line) for line in done.stdout.split())
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0.0


def held_back(names: Sequence[str], before_mb: float, seconds: float = 10.0) -> list[str]:
    """Say which memory of the GPUs the last run still holds; a driver needs a moment to take it back."""
    deadline = time.monotonic() + seconds
    while (more := memory_mb(names) - before_mb) > SLACK_MB:
        if time.monotonic() > deadline:
            return [f"{more:.0f} MB of GPU memory"]
        time.sleep(0.25)
    return []
