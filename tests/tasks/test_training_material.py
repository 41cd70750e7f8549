"""Material of the training tasks: real sets' loaders on small archives in their form, and what instances share."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from mldevbench import plugin
from mldevbench.catalog import home
from mldevbench.draw import Draw
from mldevbench.material.cifar import FOLDER, TEST_BATCH, read_batch, write_cifar10
from mldevbench.material.noisy_set import TABLE, archive, draw_noisy_set, held_out
from mldevbench.material.resnet18 import draw_weights, parameter_count, shapes, to_file
from mldevbench.material.tarball import pack_folder
from mldevbench.material.tiny_vit import CONFIG, FILE, SHA256, drawn_copy, forward
from mldevbench.material.training_log import draw_log

TASKS = home() / "tasks" / "model_training"
SMALL = {"source": "cifar10", "train": 60, "val": 20, "held_out": 30}


@pytest.fixture
def real(tmp_path: Path) -> dict[str, Any]:
    """Return a profile whose asset is a small archive in the form of the real one."""
    write_cifar10(tmp_path / "made", np.random.default_rng(0), 20, 30, 0.1)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "cifar-10-python.tar.gz").write_bytes(pack_folder(tmp_path / "made"))
    return {**SMALL, "assets": tmp_path / "assets", "made": tmp_path / "made" / FOLDER}


def draw(instance: int = 0) -> Draw:
    return Draw.of(b"a salt for tests", "some task", instance)


def test_noisy_set_of_the_real_archive_holds_out_its_test_split(real: dict[str, Any]) -> None:
    made, unseen = draw_noisy_set(draw(), real), held_out(draw(), real)
    test = read_batch(real["made"] / TEST_BATCH)
    assert np.array_equal(unseen.images, test.images)
    given = {image.tobytes() for image in (*made.train.images, *made.val.images)}
    assert len(given) == 80 and given.isdisjoint({image.tobytes() for image in test.images})


def test_noisy_archive_tells_no_right_label_of_a_training_picture(real: dict[str, Any]) -> None:
    made = draw_noisy_set(draw(), real)
    with tarfile.open(fileobj=io.BytesIO(archive(made))) as files:
        batch = pickle.loads(files.extractfile(f"{FOLDER}/data_batch_1").read(), encoding="latin1")  # type: ignore[union-attr]
        table = files.extractfile(f"{FOLDER}/{TABLE}").read().decode()  # type: ignore[union-attr]
    rows = {row["path"]: row for row in csv.DictReader(io.StringIO(table))}
    assert set(batch) == {"batch_label", "data", "filenames"}
    assert len(rows) == 80 and sum(row["is_valid"] == "True" for row in rows.values()) == 20
    noisy = np.array([int(rows[name]["noisy_labels_50"]) for name in made.names[:60]])
    assert 0.25 < float((noisy == made.train.labels).mean()) < 0.75


def test_archive_is_the_same_each_time_and_another_for_another_instance(real: dict[str, Any]) -> None:
    one, again, other = (archive(draw_noisy_set(draw(number), real)) for number in (0, 0, 1))
    assert one == again != other


def test_vision_finetuning_serves_the_real_archive_and_reads_its_first_batch(
    real: dict[str, Any], tmp_path: Path
) -> None:
    task = plugin.load(TASKS / "vision_finetuning" / "data.py")
    (tmp_path / "served").mkdir()
    task.serve(tmp_path / "served", draw(), real)
    served = (tmp_path / "served" / "data" / "cifar-10-python.tar.gz").read_bytes()
    assert served == (real["assets"] / "cifar-10-python.tar.gz").read_bytes()
    first = read_batch(real["made"] / "data_batch_1")
    assert np.array_equal(task.first_batch(draw(), real).images, first.images)


@pytest.mark.slow
def test_pretrained_torchvision_serves_the_real_file_under_its_name(tmp_path: Path) -> None:
    task = plugin.load(TASKS / "pretrained_torchvision" / "data.py")
    weights = {"fc.bias": np.arange(3, dtype=np.float32)}
    for folder in ("assets", "served"):
        (tmp_path / folder).mkdir()
    (tmp_path / "assets" / task.REAL).write_bytes(to_file(weights))
    profile = {"source": "imagenet", "assets": tmp_path / "assets"}
    task.serve(tmp_path / "served", draw(), profile)
    card = json.loads((tmp_path / "served" / "models" / "resnet18.json").read_text(encoding="utf-8"))
    assert card["file"] == task.REAL and card["num_classes"] == 1000 and card["input_shape"] == [3, 224, 224]
    assert (tmp_path / "served" / "models" / card["file"]).read_bytes() == to_file(weights)
    assert np.array_equal(task.weights(draw(), profile)["fc.bias"], weights["fc.bias"])


def test_resnet18_has_the_parameters_that_everybody_knows() -> None:
    empty = {name: np.broadcast_to(np.float32(0), shape) for name, shape in shapes(1000).items()}
    assert parameter_count(empty) == 11_689_512


@pytest.mark.slow
def test_file_of_weights_loads_and_instances_have_other_weights() -> None:
    import torch

    one, other = (draw_weights(np.random.default_rng(seed), 3) for seed in (0, 1))
    loaded = torch.load(io.BytesIO(to_file({"fc.weight": one["fc.weight"]})), weights_only=True)
    assert np.array_equal(loaded["fc.weight"].numpy(), one["fc.weight"])
    assert all(not np.array_equal(one[name], other[name]) for name in one if "num_batches" not in name)


@pytest.mark.slow
def test_copies_of_the_transformer_do_the_same_with_other_numbers() -> None:
    import torch

    assert hashlib.sha256(FILE.read_bytes()).hexdigest() == SHA256
    weights = load_file(FILE)
    copy = drawn_copy(np.random.default_rng(0), weights)
    pixels = torch.from_numpy(np.random.default_rng(1).normal(0, 1, (4, 3, 32, 32)).astype(np.float32))
    before, after = (
        forward({name: torch.from_numpy(value) for name, value in one.items()}, CONFIG, pixels).numpy()
        for one in (weights, copy)
    )
    for column in after.T:
        assert min(float(np.abs(column - known).max()) for known in before.T) < 1e-3
    moved = [name for name in weights if np.array_equal(weights[name], copy[name])]
    assert all(name.endswith(("query.bias", "key.bias", "value.bias", "intermediate.dense.bias")) for name in moved)


def test_logs_end_in_both_ways_and_their_last_line_of_an_epoch_is_the_answer() -> None:
    logs = [draw_log(np.random.default_rng(seed), {"epochs": (300, 400)}) for seed in range(12)]
    assert {log.ending.status for log in logs} == {"success", "failed"}
    assert len({(log.ending.loss, log.ending.accuracy) for log in logs}) == 12
    for log in logs:
        last = [line for line in log.text.splitlines() if " - val_" in line and "/" in line.split(" - ")[0]][-1]
        assert f"Epoch {log.ending.last_epoch}/" in last and f" loss: {log.ending.loss:.5f}" in last
        assert (log.ending.error is None) == (log.ending.status == "success")
        assert log.ending.error is None or log.text.count(f"\n{log.ending.error}\n") == 1
