"""The generators: the forms that public readers know, and draws that give nothing away."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from mldevbench.material.cifar import FOLDER, read_batch, write_cifar10
from mldevbench.material.digit_set import draw_three, given_set, only, other_set
from mldevbench.material.digits import draw_digits
from mldevbench.material.idx import decode, encode
from mldevbench.material.readings import draw_file, draw_law
from mldevbench.material.shapes import NAMES, draw_pictures

DRAWN = {"source": "drawn", "train": 200, "test": 50, "held_out": 50}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("encoding", "name"), [("bytes", b"data"), ("latin1", "data")])
def test_cifar_files_read_like_the_real_ones(tmp_path: Path, encoding: str, name: str | bytes) -> None:
    first = write_cifar10(tmp_path, rng(), 20, 10, 0.1)
    batch = pickle.loads((tmp_path / FOLDER / "data_batch_1").read_bytes(), encoding=encoding)
    assert batch[name].dtype == np.uint8
    assert np.array_equal(batch[name].reshape(-1, 3, 32, 32), first.images)


def test_cifar_batches_differ_and_have_their_sizes(tmp_path: Path) -> None:
    write_cifar10(tmp_path, rng(), 20, 10, 0.1)
    sizes = {path.name: len(read_batch(path).labels) for path in (tmp_path / FOLDER).glob("*_batch*")}
    assert sizes == {**{f"data_batch_{number}": 20 for number in range(1, 6)}, "test_batch": 10}
    one, two = (read_batch(tmp_path / FOLDER / f"data_batch_{number}").images for number in (1, 2))
    assert not np.array_equal(one, two)


def test_pictures_are_told_apart_by_shape_not_by_colour() -> None:
    drawn = draw_pictures(rng(), 2000, noise=0.0)
    means = np.stack([drawn.images[drawn.labels == label].mean(axis=(0, 2, 3)) for label in range(len(NAMES))])
    assert float(means.std(axis=0).max()) < 8
    assert len({picture.tobytes() for picture in drawn.images}) == 2000


def test_labels_do_not_follow_the_position() -> None:
    for labels in (draw_pictures(rng(1), 1000).labels, draw_digits(rng(1), 1000).labels):
        cycle = np.arange(1000) % 10
        assert 0.05 < float((labels == cycle).mean()) < 0.16


def test_idx_round_trip() -> None:
    images = draw_digits(rng(), 7).images
    assert np.array_equal(decode(encode(images)), images)


def test_other_digits_have_other_labels() -> None:
    given = given_set(rng(0), DRAWN)
    other, held_out = other_set(rng(1), DRAWN)
    assert len(given.wanted) == len(other.wanted) == 3
    assert {image.tobytes() for image in given.train.images}.isdisjoint({image.tobytes() for image in held_out.images})
    assert set(only(other.train, other.wanted).labels.tolist()) == set(other.wanted)


def test_labels_asked_for_are_never_their_own_places() -> None:
    asked = {tuple(draw_three(rng(seed))) for seed in range(3000)}
    assert len(asked) == 119 and (0, 1, 2) not in asked


def test_readings_hold_a_zero_and_fit_their_law() -> None:
    law = draw_law(rng(), 50, 5000)
    file, loads, costs = draw_file(rng(), law, 300)
    assert (loads == 0).any() and len(file.splitlines()) == 301
    assert float(np.mean((law(loads) - costs) ** 2)) < 2 * law.noise**2
