"""What is handed to programs that can't run here, and the pure pieces."""

from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.errors import UserError
from mldevbench.sandbox import cgroup, gpu, opening
from mldevbench.sandbox.capture import Capture
from mldevbench.sandbox.container import Container, apptainer_arguments, docker_arguments
from mldevbench.sandbox.interpreter import behind
from mldevbench.sandbox.protocol import Bind, Limits, SandboxSpec
from mldevbench.sandbox.rlimit import rlimits

SPEC = SandboxSpec(
    workspace=Path("/scratch/3f9a"),
    readonly=(Bind(Path("/scratch/77aa"), "/data"),),
    sockets=(Bind(Path("/scratch/b1c2/s"), "/run/gateway.sock"),),
    venv=Path("/venv"),
    limits=Limits(memory_mb=1000, processes=50, disk_mb=100, tmp_mb=10),
    gpus=(3,),
)
CONTAINER = Container("image:1", "c0ffee", Path("/scratch/k/keeper.py"), Path("/scratch/k"), Path("/scratch/k/filter"))


def test_gpu_binds_are_the_reserved_ones_only() -> None:
    assert gpu.bubblewrap_arguments((), ()) == []
    assert gpu.bubblewrap_arguments((1, 5), ("/usr/local/cuda",)) == [
        "--dev-bind", "/dev/nvidia1", "/dev/nvidia1",
        "--dev-bind", "/dev/nvidia5", "/dev/nvidia5",
        "--dev-bind-try", "/dev/nvidiactl", "/dev/nvidiactl",
        "--dev-bind-try", "/dev/nvidia-uvm", "/dev/nvidia-uvm",
        "--dev-bind-try", "/dev/nvidia-uvm-tools", "/dev/nvidia-uvm-tools",
        "--dev-bind-try", "/dev/nvidia-modeset", "/dev/nvidia-modeset",
        "--ro-bind", "/usr/local/cuda", "/usr/local/cuda",
    ]  # fmt: skip
    assert gpu.library_paths((), ["/usr/local/cuda"]) == []


def test_docker() -> None:
    assert docker_arguments(SPEC, CONTAINER, [Path("/python")]) == [
        "docker", "run", "--rm", "--name", "c0ffee", "--hostname", "sandbox", "--network", "none",
        "--ipc", "private", "--read-only", "--user", "1000:1000", "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges", "--memory", "1000m", "--memory-swap", "1000m",
        "--pids-limit", "50", "--ulimit", "core=0", "--ulimit", "fsize=104857600", "--shm-size", "10m",
        "--tmpfs", "/tmp:rw,nosuid,nodev,size=10m,mode=1777", "--workdir", "/workspace",
        "--security-opt", "seccomp=/scratch/k/filter",
        "--volume", "/scratch/3f9a:/workspace:rw", "--volume", "/scratch/k:/run/control:rw",
        "--volume", "/scratch/k/keeper.py:/run/keeper.py:ro", "--volume", "/python:/python:ro",
        "--volume", "/venv:/venv:ro", "--volume", "/scratch/77aa:/data:ro",
        "--volume", "/scratch/b1c2/s:/run/gateway.sock:rw",
        "--device", "/dev/nvidia3", "--device", "/dev/nvidiactl", "--device", "/dev/nvidia-uvm",
        "--device", "/dev/nvidia-uvm-tools", "--device", "/dev/nvidia-modeset", "image:1",
    ]  # fmt: skip


def test_apptainer() -> None:
    assert apptainer_arguments(SPEC, CONTAINER, [Path("/python")]) == [
        "apptainer", "exec", "--containall", "--cleanenv", "--no-home", "--no-eval", "--no-privs", "--net",
        "--network", "none", "--hostname", "sandbox", "--pid", "--ipc", "--uts", "--memory", "1000M",
        "--memory-swap", "1000M", "--pids-limit", "50", "--pwd", "/workspace",
        "--bind", "/scratch/3f9a:/workspace:rw", "--bind", "/scratch/k:/run/control:rw",
        "--bind", "/scratch/k/keeper.py:/run/keeper.py:ro", "--security", "seccomp:/scratch/k/filter",
        "--bind", "/python:/python:ro", "--bind", "/venv:/venv:ro", "--bind", "/scratch/77aa:/data:ro",
        "--bind", "/scratch/b1c2/s:/run/gateway.sock:rw",
        "--bind", "/dev/nvidia3:/dev/nvidia3", "--bind", "/dev/nvidiactl:/dev/nvidiactl",
        "--bind", "/dev/nvidia-uvm:/dev/nvidia-uvm", "--bind", "/dev/nvidia-uvm-tools:/dev/nvidia-uvm-tools",
        "--bind", "/dev/nvidia-modeset:/dev/nvidia-modeset", "image:1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("complaint", "facts", "says"),
    [
        ("setting up uid map: Permission denied", {"apparmor": True}, "apparmor_restrict_unprivileged_userns=0"),
        ("Creating new namespace failed", {"root": True, "pod": True}, "securityContext"),
        ("Can't mount proc on /newroot/proc", {}, "masks parts of /proc"),
        ("No permissions to create new namespace", {}, "max_user_namespaces"),
        ("Creating new namespace failed", {"root": True}, "CAP_SYS_ADMIN"),
    ],
)
def test_each_refusal_has_a_remedy(complaint: str, facts: dict[str, bool], says: str) -> None:
    everything = {"root": False, "apparmor": False, "pod": False} | facts
    text = opening.remedy(complaint, **everything)
    assert says in text and "\n" not in text


def test_the_weak_sandbox_is_chosen_for_trusted_agents_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(opening.PROBLEMS, "bubblewrap", lambda: "bwrap is not installed; install it")
    assert opening.choose("auto", trusted=True) == "process"
    assert opening.choose("process", trusted=False) == "process"
    for wanted in ("auto", "bubblewrap"):
        with pytest.raises(UserError, match="install it"):
            opening.choose(wanted, trusted=False)
    monkeypatch.setitem(opening.PROBLEMS, "bubblewrap", lambda: None)
    assert opening.choose("auto", trusted=True) == "bubblewrap"
    with pytest.raises(UserError, match="bubblewrap"):
        opening.choose("bubblewarp", trusted=True)


def test_capture_keeps_both_ends() -> None:
    capture = Capture(10)
    for byte in range(100):
        capture.add(bytes([byte]))
    assert capture.result() == bytes(range(5)) + b"\n[... 90 bytes left out ...]\n" + bytes(range(95, 100))
    whole = Capture(10)
    whole.add(b"0123456789")
    assert whole.result() == b"0123456789"


def test_bounds() -> None:
    limits = Limits(memory_mb=100, processes=7, disk_mb=3)
    assert rlimits(limits, weak=False) == (0, 0, 3 << 20)
    assert rlimits(limits, weak=True) == (7, (150 + 256) << 20, 3 << 20)


MOUNTS = """\
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 /outer /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
27 1 254:0 / / rw - ext4 /dev/vda rw
"""


def test_hierarchies_are_found_where_we_are() -> None:
    found = cgroup.hierarchies(MOUNTS, "4:memory:/a/b\n8:pids:/outer/c\n0::/d\n")
    assert {(each.version, str(each.folder)) for each in found} == {
        (2, "/sys/fs/cgroup/unified/d"),
        (1, "/sys/fs/cgroup/memory/a/b"),
        (1, "/sys/fs/cgroup/pids/c"),
    }


def test_version_2_uses_a_sibling_where_we_sit_in_a_leaf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a folder stand in for the kernel's: this machine keeps its controllers on version 1."""
    leaf = tmp_path / "service" / "leaf"
    leaf.mkdir(parents=True)
    (tmp_path / "service" / "cgroup.subtree_control").write_text("memory pids")
    mounts, membership = tmp_path / "mounts", tmp_path / "membership"
    mounts.write_text(f"41 31 0:38 / {tmp_path} rw - cgroup2 cgroup2 rw\n")
    membership.write_text("0::/service/leaf\n")
    monkeypatch.setattr(cgroup, "MOUNTS", mounts)
    monkeypatch.setattr(cgroup, "MEMBERSHIP", membership)
    group = cgroup.make(Limits(memory_mb=3, processes=5))
    assert group is not None and group.version == 2
    assert group.memory.parent == tmp_path / "service"
    contents = {file.name: file.read_text() for file in group.memory.iterdir()}
    assert contents == {
        "memory.max": str(3 << 20),
        "memory.oom.group": "1",
        "memory.swap.max": "0",
        "pids.max": "5",
    }
    (group.memory / "memory.events").write_text("low 0\noom 2\noom_kill 1\n")
    (group.memory / "pids.events").write_text("max 12\n")
    assert (group.memory_kills(), group.refused_forks()) == (1, 12)


def test_an_environment_without_python_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="bin/python"):
        behind(tmp_path)


def test_every_hop_to_the_interpreter_is_shown(tmp_path: Path) -> None:
    real = tmp_path / "store" / "python-3.11.7" / "bin"
    real.mkdir(parents=True)
    (real / "python3.11").write_text("")
    alias = tmp_path / "alias"
    alias.symlink_to(tmp_path / "store" / "python-3.11.7")
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python3").symlink_to(alias / "bin" / "python3.11")
    (venv / "bin" / "python").symlink_to("python3")
    found = behind(venv)
    assert found.python == str(real / "python3.11")
    assert set(found.prefixes) == {alias, tmp_path / "store" / "python-3.11.7"}
