"""The GPUs that an actor holds: by which device they are shown, and that a run would see them, or none starts there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.gpus import complaint_about, held_back, unseen
from mldevbench.errors import Fault
from mldevbench.sandbox import gpu
from mldevbench.sandbox.gpu import minors_of, seen_gpus
from mldevbench.sandbox.opening import available

FIRST, SECOND = "GPU-1f3a5c70-0000-4000-8000-000000000001", "GPU-2b4d6e80-0000-4000-8000-000000000002"


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """Return what a driver tells of two GPUs whose device numbers are not in the order of the bus."""
    folder = tmp_path / "gpus"
    for place, minor, uuid in (("0000:07:00.0", 1, FIRST), ("0000:0b:00.0", 0, SECOND)):
        (folder / place).mkdir(parents=True)
        text = f"Model: \t\t NVIDIA A100\nVideo BIOS: \t\nGPU UUID: \t {uuid}\nDevice Minor: \t {minor}\n"
        (folder / place / "information").write_text(text, encoding="utf-8")
    return folder


def test_a_gpu_is_found_by_its_index_and_by_its_uuid(known: Path) -> None:
    assert minors_of(("0", "1"), known) == (1, 0)
    assert minors_of((SECOND,), known) == (0,) and minors_of((FIRST[:12],), known) == (1,)
    assert seen_gpus((0,), True, known) == ((0,), {"CUDA_VISIBLE_DEVICES": SECOND})
    assert minors_of((), known) == ()


def test_simulated_gpus_are_numbers(tmp_path: Path) -> None:
    assert minors_of(("3", "1"), tmp_path / "none") == (3, 1)


@pytest.mark.parametrize("name", ["2", "MIG-5c6f", "GPU-"])
def test_what_can_not_be_shown_alone_is_the_nodes_fault(name: str, known: Path) -> None:
    with pytest.raises(Fault, match=f"GPU {name} is reserved, and no device here can be shown for it") as caught:
        minors_of((name,), known)
    assert caught.value.cause == "gpu_unavailable"


def test_gpu_memory_must_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\necho $* > {tmp_path}/asked\ncat {tmp_path}/used\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "used").write_text("500\n30\n", encoding="utf-8")
    assert held_back(("0", SECOND), 30.0, seconds=0) == ["500 MB of GPU memory"]
    assert (tmp_path / "asked").read_text(encoding="utf-8").strip().endswith(f"-i 0,{SECOND}")
    assert held_back(("0", "1"), 500.0, seconds=0) == [] and held_back((), 0.0, seconds=0) == []


@pytest.mark.slow
def test_a_gpu_that_torch_does_not_see_inside_is_complained_of(
    task_venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert unseen(("0",), "process", task_venv) == "", "a simulated GPU is nothing to look for"
    isolation = "bubblewrap" if available("bubblewrap") is None else "process"
    monkeypatch.setattr(gpu, "device_paths", lambda minors: [])  # there is no such device here
    assert "built without CUDA; install a CUDA build of it there" in unseen(("0",), isolation, task_venv, real=True)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("2 12.8", ""),
        ("1 12.8", "doesn't see the 2 GPUs that are held (1 12.8); look at 'nvidia-smi' there"),
        ("0 None", "is built without CUDA"),
        ("Traceback\nModuleNotFoundError: torch", "held (ModuleNotFoundError: torch)"),
        ("", "held (no answer)"),
    ],
)
def test_what_torch_says_inside(answer: str, complaint: str) -> None:
    said = complaint_about(answer, 2, Path("/venv"))
    assert complaint in said and bool(complaint) == bool(said)
