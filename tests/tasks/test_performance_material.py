"""What the performance tasks draw: pictures and masks that fit, labels that nothing gives away, questions by a rule."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from safetensors.numpy import save_file

from mldevbench import plugin
from mldevbench.catalog import Catalog
from mldevbench.draw import Draw
from mldevbench.material import boolq, imagenette_files, voc
from mldevbench.material.imagenette import draw_collection, write_archive
from mldevbench.material.noisy_folder import (
    CLASSES,
    as_rows,
    draw_confusion,
    draw_files,
    mislabelled,
    random_names,
    write_labels,
    write_pictures,
)
from mldevbench.material.opinions import WORDS, draw_opinions, shuffled_words
from mldevbench.material.questions import KINDS
from mldevbench.material.scenes import FIRST_CAMERA, draw_camera, draw_scenes, shoot
from mldevbench.material.scenes import KINDS as SHAPE_KINDS
from mldevbench.workspace import fill, lay_over

DRAW = Draw(b"a key for tests")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_masks_lie_where_the_shapes_are() -> None:
    scenes = draw_scenes(rng(), 60)
    for light, mask in zip(scenes.light, scenes.masks, strict=True):
        assert len(np.unique(light[:, mask > 0], axis=1).T) == 1, "a shape has one colour"
        assert len(set(mask[mask > 0].tolist())) == 1
    assert set(scenes.masks.ravel().tolist()) == set(range(len(SHAPE_KINDS) + 1))


def test_the_order_of_classes_is_the_instances_own() -> None:
    order = np.array([3, 1, 0, 4, 2])
    plain, other = draw_scenes(rng(1), 40), draw_scenes(rng(1), 40, order)
    known = np.concatenate([[0], order + 1])
    assert np.array_equal(known[plain.masks], other.masks)


def test_the_second_camera_shows_the_same_scenes_otherwise() -> None:
    light = draw_scenes(rng(2), 50).light
    first, second = (shoot(rng(3), light, camera) for camera in (FIRST_CAMERA, draw_camera(rng(4))))
    assert first.shape == second.shape == (50, 3, 32, 32)
    bright = (first.mean((1, 2, 3)), second.mean((1, 2, 3)))
    assert np.corrcoef(*bright)[0, 1] < -0.5, "it is a negative"
    assert second.std() < first.std()


def test_picture_files_are_what_they_were_drawn_from(tmp_path: Path) -> None:
    made = draw_files(rng(), 20, np.arange(CLASSES))
    rows = as_rows(made.contents)
    for content, row in zip(made.contents, rows, strict=True):
        picture = np.asarray(Image.open(io.BytesIO(row.tobytes())))
        assert picture.shape == (16, 16, 3)
        assert np.array_equal(picture, np.asarray(Image.open(io.BytesIO(content))))


def test_about_half_of_the_labels_are_wrong_and_in_a_way_of_their_own() -> None:
    chances = draw_confusion(rng(1))
    assert np.allclose(chances.sum(1), 1)
    assert 0.42 < 1 - np.diag(chances).mean() < 0.55
    assert (chances.argmax(1) != np.arange(CLASSES)).sum() == CLASSES // 2
    assert not np.allclose(chances, draw_confusion(rng(2)))
    labels = rng(3).integers(0, CLASSES, 4000)
    share = float((np.asarray(mislabelled(rng(4), labels, chances)) != labels).mean())
    assert 0.42 < share < 0.55


def test_neither_names_nor_times_nor_order_nor_sizes_tell_a_label(tmp_path: Path) -> None:
    made = draw_files(rng(5), 1600, rng(6).permutation(CLASSES))
    names = random_names(rng(7), 1600, ".png")
    write_pictures(tmp_path / "images", names, made.contents)
    write_labels(tmp_path / "labels.csv", "label", names, made.labels.tolist())
    with (tmp_path / "labels.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    labels = np.array([int(row["label"]) for row in rows])
    assert (
        [row["path"] for row in rows] == sorted(names) == sorted(path.name for path in (tmp_path / "images").iterdir())
    )
    assert {path.stat().st_mtime for path in (tmp_path / "images").iterdir()} == {0.0}
    clues = {
        "place": np.arange(len(labels)),
        "name": np.array([int(row["path"][:6], 16) for row in rows]),
        "inode": np.array([(tmp_path / "images" / row["path"]).stat().st_ino for row in rows]),
    }
    for name, clue in clues.items():
        parts = np.array_split(labels[np.argsort(clue)], 4)
        counts = np.array([np.bincount(part, minlength=CLASSES) for part in parts])
        expected = counts.sum(0, keepdims=True) / 4
        assert float(((counts - expected) ** 2 / expected).sum()) < 60, f"{name} tells labels"  # 21 degrees of freedom


def test_answers_follow_the_rule_and_either_side_is_asked() -> None:
    for one in draw_opinions(rng(), 200):
        sides = [word in KINDS[1] for word in one.passage.split() if word in {*KINDS[0], *KINDS[1]}]
        asked = one.question.split()[-2] in KINDS[1]
        assert one.label == ((2 * sum(sides) > len(sides)) == asked)
        assert set(f"{one.question} {one.passage}".split()) <= set(WORDS)
    assert all(one.question.split()[-2] in KINDS[1] for one in draw_opinions(rng(), 50, asked=1))
    assert 0.4 < np.mean([one.label for one in draw_opinions(rng(1), 500)]) < 0.6


def test_another_order_of_words_is_the_same_model() -> None:
    weights = {"words.weight": rng().normal(size=(len(WORDS), 4)).astype(np.float32)}
    made, words = shuffled_words(rng(1), weights, WORDS)
    assert words != list(WORDS)
    for place, word in enumerate(words):
        assert np.array_equal(made["words.weight"][place], weights["words.weight"][WORDS.index(word)])


def test_imagenette_is_given_without_what_is_scored(tmp_path: Path) -> None:
    write_archive(draw_collection(rng(), 80, 40), tmp_path / imagenette_files.ARCHIVE)
    profile: dict[str, Any] = {"assets": str(tmp_path), "validation": 10, "held_out": 25}
    given, kept = imagenette_files.given(DRAW, profile), imagenette_files.held_out(DRAW, profile)
    assert [len(given.train.contents), len(given.validation.contents), len(kept.contents)] == [80, 10, 25]
    assert not {*given.train.contents, *given.validation.contents} & {*kept.contents}
    assert 0.3 < (np.asarray(given.wrong) != given.train.labels).mean() < 0.7
    assert all(content.startswith(b"\xff\xd8") for content in kept.contents)


def test_voc_is_given_without_what_is_scored(tmp_path: Path) -> None:
    names = write_voc(tmp_path / voc.ARCHIVE, train=6, val=8)
    profile: dict[str, Any] = {"assets": str(tmp_path), "held_out": 3, "side": 32}
    voc.write_given(tmp_path / "data", DRAW, profile)
    pictures, masks = voc.held_out(DRAW, profile)
    assert pictures.shape == (3, 3, 32, 32)
    assert masks.shape == (3, 32, 32)
    assert {int(value) for value in np.unique(masks)} <= {0, 7, 255}
    place = tmp_path / "data" / "VOC2012"
    shown = (place / "ImageSets/Segmentation/val.txt").read_text(encoding="utf-8").split()
    assert len(shown) == 5
    given = {path.stem for folder in ("JPEGImages", "SegmentationClass") for path in (place / folder).iterdir()}
    assert given == {*names["train"], *shown}


def write_voc(path: Path, train: int, val: int) -> dict[str, list[str]]:
    """Write a small archive in Pascal VOC's own layout, palette masks included."""
    names = {"train": [f"2007_{number:06d}" for number in range(train)]}
    names["val"] = [f"2008_{number:06d}" for number in range(val)]
    files = {f"ImageSets/Segmentation/{name}.txt": "\n".join(some).encode() for name, some in names.items()}
    for name in [*names["train"], *names["val"]]:
        mask = np.zeros((40, 50), np.uint8)
        mask[10:30, 10:30], mask[0] = 7, 255
        palette = Image.fromarray(mask, "L").convert("P")
        palette.putdata(mask.ravel().tolist())
        files[f"JPEGImages/{name}.jpg"] = encoded(Image.fromarray(np.full((40, 50, 3), 90, np.uint8)), "JPEG")
        files[f"SegmentationClass/{name}.png"] = encoded(palette, "PNG")
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{voc.FOLDER}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return names


def encoded(image: Image.Image, kind: str) -> bytes:
    file = io.BytesIO()
    image.save(file, kind)
    return file.getvalue()


def test_boolq_and_bert_come_in_our_form(tmp_path: Path) -> None:
    write_boolq(tmp_path)
    profile: dict[str, Any] = {"assets": str(tmp_path), "unlabelled": 10, "held_out": 12}
    train, unlabelled = boolq.given(DRAW, profile)
    assert [len(train), len(unlabelled), len(boolq.held_out(DRAW, profile))] == [20, 10, 12]
    assert not {one.question for one in train} & {one.question for one in unlabelled}
    assert set(boolq.bert(profile, rng())) == OUR_NAMES


def write_boolq(folder: Path) -> None:
    rows = [{"question": f"is {number} odd", "passage": "It is.", "answer": number % 2 == 1} for number in range(30)]
    for name in ("train", "dev"):
        text = "".join(json.dumps({**row, "title": "numbers"}) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    save_file({old: np.ones((4, 4), np.float32) for old in OLD_NAMES}, folder / "model.safetensors")


OLD_NAMES = (
    "bert.embeddings.word_embeddings.weight",
    "bert.embeddings.LayerNorm.gamma",
    "bert.encoder.layer.3.attention.self.query.weight",
    "bert.encoder.layer.3.output.LayerNorm.beta",
    "bert.pooler.dense.weight",
    "cls.predictions.bias",
)
OUR_NAMES = {
    "words.weight",
    "embedding_norm.weight",
    "layers.3.query.weight",
    "layers.3.output_norm.bias",
    "pooler.weight",
    "classifier.weight",
    "classifier.bias",
}


def full_assets(name: str, folder: Path) -> dict[str, Any]:
    """Write small files in the original formats; return what a profile says otherwise for them."""
    if name == "noisy_imagenette":
        write_archive(draw_collection(rng(), 80, 40), folder / imagenette_files.ARCHIVE)
        return {"validation": 10, "held_out": 25}
    if name == "segmentation":
        write_voc(folder / voc.ARCHIVE, train=6, val=8)
        (folder / "resnet50-0676ba61.pth").write_bytes(b"weights")
        return {"held_out": 3}
    write_boolq(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    return {"unlabelled": 10, "held_out": 12}


@pytest.mark.parametrize("name", ["noisy_imagenette", "segmentation", "boolq"])
def test_the_full_profile_is_made_from_the_original_files(name: str, tmp_path: Path) -> None:
    task = Catalog.of([]).task(name)
    (tmp_path / "assets").mkdir()
    changed = full_assets(name, tmp_path / "assets")
    profile = {**task.profile("full"), **changed, "assets": str(tmp_path / "assets")}
    place = tmp_path / "workspace"
    lay_over(task.part("workspace"), place)
    place.mkdir(exist_ok=True)
    values = plugin.load(task.part("data.py")).prepare(place, DRAW, profile)
    assert "$" not in fill(task, {**profile, **values})
    assert {path.split("/")[0] for path in task.protected} <= {path.name for path in place.iterdir()}
    validate = plugin.load(task.part("validate.py"))
    kept = (validate._unseen if name == "noisy_imagenette" else validate._held_out)(DRAW, profile)
    assert (
        len(kept.labels if name == "noisy_imagenette" else kept[0] if name == "segmentation" else kept)
        == profile["held_out"]
    )


@pytest.mark.parametrize("name", Catalog.of([]).categories["performance"])
@pytest.mark.parametrize(("recipe", "side"), [("oracle", 1), ("weak", -1)])
def test_a_threshold_keeps_its_distance_from_what_was_measured(name: str, recipe: str, side: int) -> None:
    """Three standard deviations; and the held-out set is large enough to tell a quarter of that margin."""
    task = Catalog.of([]).task(name)
    profile, seen = task.profile("mini"), task.file.calibration
    (bound,) = (value for key, value in profile.items() if key.startswith("min_"))
    mean, spread = (*seen[recipe], 0.0)[:2]  # a single draw has no spread
    margin = side * (mean - bound)
    assert margin >= 3 * spread
    error = 0.5 * profile["held_out"] ** -0.5 * (100 if bound > 1 else 1)  # of a share, at most
    assert error < margin / 4
