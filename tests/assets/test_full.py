"""The `full` profiles' own code on small archives in the original formats, fetched from loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from assets.server import Source, source
from assets.small import small_task

from mldevbench.assets import declared, ensure, provided
from mldevbench.catalog import Catalog
from mldevbench.digest import of_file
from mldevbench.errors import UserError
from mldevbench.prove import prove, variants
from mldevbench.task import Task

PROVEN = (
    "dataset_download_noisy_imagenette",
    "dataset_preprocessing",
    "overfit_small_dataset",
    "cifar10_training",
    "pretrained_torchvision",
    "pretrained_huggingface",
    "vision_finetuning",
)


@pytest.fixture
def served() -> Iterator[Source]:
    with source() as held:
        yield held


@pytest.fixture
def cache(tmp_path: Path, task_venv: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a test assets of its own; the task venv stays where it is."""
    monkeypatch.setattr("mldevbench.assets.keeping.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def proven(task: Task, name: str, tmp_path: Path, venv: Path) -> tuple[bool, str]:
    (variant,) = (one for one in variants(task) if one.name == name)
    # Moved digits of ours are harder to tell apart than MNIST's; of this draw MNIST's bound can be asked.
    proof = prove(task, variant, instance=0, salt=b"small archives", profile="full", isolation="bubblewrap", venv=venv,
                  scratch=tmp_path / "scratch")  # fmt: skip
    return bool(proof.verdict and proof.verdict.passed), proof.detail


@pytest.mark.slow
@pytest.mark.timeout(900)  # several of them train
@pytest.mark.parametrize("name", PROVEN)
def test_the_solution_passes_and_nothing_else_does(
    name: str, served: Source, cache: Path, tmp_path: Path, task_venv: Path
) -> None:
    task = small_task(name, served, tmp_path / "tasks")
    original = Catalog.of([]).task(name)
    for part in ("data.py", "validate.py", "instruction.md"):
        assert of_file(task.part(part)) == of_file(original.part(part))
    ensure(task, "full")
    ensure(task, "full", offline=True)
    assert len(served.requests) == len(declared(task, "full")), "each file is fetched once"
    passed, detail = proven(task, "solution", tmp_path, task_venv)
    assert passed, detail
    assert not proven(task, "noop", tmp_path, task_venv)[0]


def test_without_its_assets_a_task_says_what_to_do(
    served: Source, cache: Path, tmp_path: Path, task_venv: Path
) -> None:
    task = small_task("dataset_preprocessing", served, tmp_path / "tasks")
    with pytest.raises(UserError, match="mldevbench assets fetch"):
        proven(task, "solution", tmp_path, task_venv)
    with pytest.raises(UserError, match="--offline"):
        ensure(task, "full", offline=True)


def test_what_is_held_out_is_for_judges_only(served: Source, cache: Path, tmp_path: Path) -> None:
    task = small_task("overfit_small_dataset", served, tmp_path / "tasks")
    secret = task.file.assets["full"]["t10k-labels-idx1-ubyte.gz"]
    before = task.task_digest("full")
    task.file.assets["full"]["t10k-labels-idx1-ubyte.gz"] = secret.model_copy(update={"held_out": True})
    ensure(task, "full")
    seen = {path.name for path in Path(provided(task, "full")["assets"]).iterdir()}
    judged = {path.name for path in Path(provided(task, "full", judging=True)["assets"]).iterdir()}
    assert judged - seen == {"t10k-labels-idx1-ubyte.gz"} and task.task_digest("full") != before


def test_mini_needs_nothing() -> None:
    for task in Catalog.of([]).tasks(["all"]):
        assert not declared(task, "mini") and "assets" not in provided(task, "mini")
