"""What of the host a reserved GPU needs inside; without a reservation nothing of it is visible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

CONTROL = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
DRIVER = Path("/dev/nvidiactl")
# Where drivers and toolkits live outside /usr, which is visible anyway.
LIBRARIES = ("/usr/local/cuda", "/usr/local/nvidia", "/opt/nvidia", "/run/nvidia/driver", "/etc/OpenCL")


def seen_gpus(held: tuple[int, ...], real: bool) -> tuple[tuple[int, ...], dict[str, str]]:
    """Return the devices to show and what to say of them; simulated GPUs are only spoken of.

    A real one needs no word: only the devices that are reserved are there. Silence about none would show them all.
    """
    if not held:
        return (), {"CUDA_VISIBLE_DEVICES": ""}
    return (held, {}) if real else ((), {"CUDA_VISIBLE_DEVICES": ",".join(str(minor) for minor in held)})


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
