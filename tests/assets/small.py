"""Small archives in the original formats, under the original names, for the `full` profiles' own code to read."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from assets.server import Source

from mldevbench.catalog import home
from mldevbench.digest import of_bytes
from mldevbench.material.cifar import FOLDER, write_cifar10
from mldevbench.material.digits import draw_digits
from mldevbench.material.hub_bert import draw_bert, write_model
from mldevbench.material.idx import mnist_files
from mldevbench.material.imagenette import draw_collection, write_archive
from mldevbench.material.resnet18 import draw_weights
from mldevbench.task import Task, load_task

BERT_SIZES = {"heads": [4], "head_sizes": [4, 5], "layers": [2, 3], "intermediate": [20, 21], "words": [240, 241]}


def imagenette() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        write_archive(draw_collection(np.random.default_rng(1), 60, 50), Path(folder) / "small.tgz")
        return {"imagenette2-160.tgz": (Path(folder) / "small.tgz").read_bytes()}


def cifar10(batch: int = 80, test: int = 60) -> dict[str, bytes]:
    made = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=made, mode="w:gz") as archive:
        write_cifar10(Path(folder), np.random.default_rng(2), batch, test, 0.06)
        archive.add(Path(folder) / FOLDER, FOLDER)
    return {"cifar-10-python.tar.gz": made.getvalue()}


def mnist() -> dict[str, bytes]:
    rng = np.random.default_rng(3)
    files = mnist_files(draw_digits(rng, 5000), draw_digits(rng, 2300))
    return {f"{name}.gz": gzip.compress(content, 1) for name, content in files.items()}


def bert() -> dict[str, bytes]:
    """Return a repository with the tensor names that the original's file has: an old head, old words for the norms."""
    from safetensors.numpy import save

    model = draw_bert(np.random.default_rng(4), BERT_SIZES)
    with tempfile.TemporaryDirectory() as folder:
        write_model(model, Path(folder) / "made")
        files = {path.name: path.read_bytes() for path in (Path(folder) / "made").iterdir()}
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    renamed = {}
    for name, value in model.weights.items():
        for new, word in old.items():
            name = name.replace(new, word)
        renamed[f"bert.{name}"] = value
    renamed["cls.predictions.bias"] = np.zeros(model.config["vocab_size"], np.float32)
    return {**files, "model.safetensors": save(renamed, metadata={"format": "pt"})}


def resnet18() -> dict[str, bytes]:
    """Return weights as torchvision's old files hold them: parameters, and no counters."""
    import torch

    drawn = draw_weights(np.random.default_rng(5), 1000)
    tensors = {name: torch.from_numpy(value) for name, value in drawn.items() if value.ndim}
    trained = {name: torch.nn.Parameter(value) if "running" not in name else value for name, value in tensors.items()}
    made = io.BytesIO()
    torch.save(trained, made)
    return {"resnet18-f37072fd.pth": made.getvalue()}


MAKERS: dict[str, Callable[[], dict[str, bytes]]] = {
    "dataset_download_noisy_imagenette": imagenette,
    "dataset_preprocessing": cifar10,
    "vision_finetuning": cifar10,
    "cifar10_training": lambda: cifar10(400, 600),
    "pretrained_torchvision": resnet18,
    "overfit_small_dataset": mnist,
    "pretrained_huggingface": bert,
}
SIZES: dict[str, dict[str, Any]] = {
    "cifar10_training": {"train": 1500, "val": 500, "held_out": 600},
    "dataset_preprocessing": {"batch": 80, "test": 60, "max_unexplained": 0.1},
    "overfit_small_dataset": {"train": 4000, "test": 500, "held_out": 1500},
}
# The name of this file tells its digest, which a small one can't have.
UNNAMED = {"pretrained_torchvision": ("solution/get_model.py", ", check_hash=True")}


def small_task(name: str, served: Source, folder: Path) -> Task:
    """Return a copy of a task that differs in the addresses, digests and sizes of its `full` profile only."""
    (found,) = (home() / "tasks").glob(f"*/{name}")
    copy = Path(shutil.copytree(found, folder / found.parent.name / name))
    written: dict[str, Any] = yaml.safe_load((copy / "task.yaml").read_text(encoding="utf-8"))
    for file, content in MAKERS[name]().items():
        declare(written["assets"]["full"][file], f"/{name}/{file}", content, served)
    written["profiles"]["full"] |= SIZES.get(name, {})
    (copy / "task.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    if name in UNNAMED:
        path, words = copy / UNNAMED[name][0], UNNAMED[name][1]
        path.write_text(path.read_text(encoding="utf-8").replace(words, ""), encoding="utf-8")
    return load_task(copy)


def declare(asset: dict[str, Any], path: str, content: bytes, served: Source) -> None:
    served.files[path] = content
    new: Mapping[str, object] = {"url": served.url + path, "bytes": len(content), "sha256": of_bytes(content)}
    asset.update(new)
