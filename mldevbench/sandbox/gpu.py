"""What of the host a reserved GPU needs inside; without a reservation nothing of it is visible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mldevbench.errors import Fault

CONTROL = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
DRIVER = Path("/dev/nvidiactl")
KNOWN = Path("/proc/driver/nvidia/gpus")  # a folder for each GPU, named by its place on the bus
# Where drivers and toolkits live outside /usr, which is visible anyway.
LIBRARIES = ("/usr/local/cuda", "/usr/local/nvidia", "/opt/nvidia", "/run/nvidia/driver", "/etc/OpenCL")


def minors_of(names: Sequence[str], known: Path = KNOWN) -> tuple[int, ...]:
    """Return the device numbers of GPUs that are called by their index on the bus, or by UUID.

    Simulated GPUs, of which no driver knows, are called by number only. What can't be shown alone, as a slice of a GPU,
    is a fault of the node: to show nothing would be a run on the CPU that nobody asked for.
    """
    there = _present(known)
    if not there and all(name.isdigit() for name in names):
        return tuple(int(name) for name in names)
    found = []
    for name in names:
        fitting = [minor for index, (minor, uuid) in enumerate(there) if name == str(index) or uuid.startswith(name)]
        if len(fitting) != 1:
            raise Fault("gpu_unavailable", f"GPU {name} is reserved, and no device here can be shown for it")
        found += fitting
    return tuple(found)


def _present(known: Path) -> list[tuple[int, str]]:
    """Return minor and UUID of the GPUs that the driver knows, in the order of the bus."""
    found = []
    for folder in sorted(known.glob("*")):
        text = (folder / "information").read_text(encoding="utf-8")
        said = dict(re.findall(r"^(.+?):[ \t]*(.*?)[ \t]*$", text, re.MULTILINE))
        found.append((int(said["Device Minor"]), said["GPU UUID"]))
    return found


def seen_gpus(held: tuple[int, ...], real: bool, known: Path = KNOWN) -> tuple[tuple[int, ...], dict[str, str]]:
    """Return the devices to show and what to say of them; simulated GPUs are only spoken of.

    Real ones are called by UUID, which is the same wherever a process counts from. Silence about none would show them
    all.
    """
    if not held:
        return (), {"CUDA_VISIBLE_DEVICES": ""}
    if not real:
        return (), {"CUDA_VISIBLE_DEVICES": ",".join(str(minor) for minor in held)}
    uuids = dict(_present(known))
    return held, {"CUDA_VISIBLE_DEVICES": ",".join(uuids[minor] for minor in held)} if uuids else {}


def device_paths(minors: Sequence[int]) -> list[str]:
    """Return the device files of the reserved GPUs and those that all of them share."""
    return [*(f"/dev/nvidia{minor}" for minor in minors), *CONTROL] if minors else []


def library_paths(minors: Sequence[int], present: Iterable[str] | None = None) -> list[str]:
    if not minors:
        return []
    return list(present if present is not None else (path for path in LIBRARIES if Path(path).exists()))


def bubblewrap_arguments(minors: Sequence[int], libraries: Sequence[str]) -> list[str]:
    """Return the binds for the reserved minors; a missing one is bwrap's own error, a shared one may be absent."""
    arguments: list[str] = []
    for path in device_paths(minors):
        reserved = path.removeprefix("/dev/nvidia").isdigit()
        arguments += ["--dev-bind" if reserved else "--dev-bind-try", path, path]
    for path in libraries:
        arguments += ["--ro-bind", path, path]
    return arguments
