"""Opens sandboxes by name, and says in one line why one can't work on this machine and what to do."""

from __future__ import annotations

import functools
import os
import platform
import secrets
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from mldevbench.errors import Fault, UserError, unknown
from mldevbench.sandbox import seccomp
from mldevbench.sandbox.bubblewrap import open_bubblewrap, program
from mldevbench.sandbox.cage import Cage
from mldevbench.sandbox.process import open_process
from mldevbench.sandbox.protocol import SandboxSpec
from mldevbench.sandbox.warm_shell import lent, open_warm

APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
POD = Path("/var/run/secrets/kubernetes.io")
PROBE = (
    "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent", "--as-pid-1",
    "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "true",
)  # fmt: skip


def opaque_folder(scratch: Path) -> Path:
    """Make a folder whose name says nothing, for what is bound: its path can be read inside."""
    folder = scratch / secrets.token_hex(8)
    folder.mkdir(parents=True)
    return folder


def remedy(complaint: str, *, root: bool, apparmor: bool, pod: bool) -> str:
    """Return what to do about a bwrap that refuses to work."""
    if not root and apparmor:
        return "allow user namespaces: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    if pod:
        return "give the pod the securityContext in ray_configs/ (SYS_ADMIN, Unconfined, procMount: Unmasked)"
    if "proc" in complaint:
        return "the container masks parts of /proc: run as root, or unmask it (--security-opt systempaths=unconfined)"
    if not root:
        return "run as root, or allow user namespaces: sudo sysctl -w user.max_user_namespaces=15000"
    return "run the container with CAP_SYS_ADMIN and without a seccomp profile that forbids namespaces"


@functools.cache
def _bubblewrap_problem() -> str | None:
    bwrap = program()
    if bwrap is None:
        return "bwrap is not installed; install the package `bubblewrap`"
    if platform.machine() not in seccomp.ARCHITECTURES:
        return f"no system call filter for {platform.machine()}; use x86_64 or aarch64, or --sandbox docker"
    root = os.geteuid() == 0
    try:
        done = subprocess.run(
            [bwrap, *([] if root else ["--unshare-user"]), *PROBE], env={}, capture_output=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bwrap can't be run ({error}); install the package `bubblewrap` again"
    if done.returncode == 0:
        return None
    complaint = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
    apparmor = APPARMOR.exists() and APPARMOR.read_text(encoding="ascii").strip() == "1"
    return f"{complaint}; {remedy(complaint, root=root, apparmor=apparmor, pod=POD.exists())}"


def _docker_problem() -> str | None:
    if shutil.which("docker") is None:
        return "docker is not installed; install it, or use --sandbox bubblewrap"
    try:
        done = subprocess.run(["docker", "info"], capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"docker doesn't answer ({error}); start its engine"
    return None if done.returncode == 0 else "docker's engine can't be reached; start it, or join the group docker"


def _apptainer_problem() -> str | None:
    return None if shutil.which("apptainer") else "apptainer is not installed; install it, or use --sandbox bubblewrap"


PROBLEMS: dict[str, Callable[[], str | None]] = {
    "bubblewrap": _bubblewrap_problem,
    "process": lambda: None,
    "apptainer": _apptainer_problem,
    "docker": _docker_problem,
}


def available(isolation: str) -> str | None:
    """Return None where a sandbox works, else one line with the reason and the remedy."""
    if isolation not in PROBLEMS:
        raise unknown("sandbox", isolation, PROBLEMS)
    return PROBLEMS[isolation]()


def choose(wanted: str, trusted: bool) -> str:
    """Return the sandbox to use; the weak one is chosen unasked for trusted agents only."""
    if wanted != "auto":
        problem = available(wanted)
        if problem is not None:
            raise UserError(f"sandbox {wanted}: {problem}")
        return wanted
    problem = available("bubblewrap")
    if problem is None:
        return "bubblewrap"
    if trusted:
        return "process"
    raise UserError(f"sandbox bubblewrap: {problem} (or ask for the weak one by name: --sandbox process)")


def open_sandbox(spec: SandboxSpec, isolation: str, *, cgroups: bool = True) -> Cage:
    """Open a sandbox; the caller closes it."""
    if isolation == "bubblewrap":
        zygote = lent.get()
        return open_warm(spec, zygote, cgroups=cgroups) if zygote else open_bubblewrap(spec, cgroups=cgroups)
    if isolation == "process":
        return open_process(spec, cgroups=cgroups)
    if isolation in PROBLEMS:
        from mldevbench.sandbox.engine import open_container

        problem = available(isolation)
        if problem is not None:
            raise Fault("sandbox_error", problem)
        return open_container(spec, isolation)
    raise unknown("sandbox", isolation, PROBLEMS)
