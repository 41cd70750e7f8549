"""What a submitted model may hold: every number counts, and code is no place for more of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from judge.support import Submit
from safetensors.numpy import save_file

from mldevbench.checks import Unmet, beats, parameter_count, small_code, within_capacity
from mldevbench.records import Metric, Verdict
from mldevbench.store.verdict import read_verdict, write_verdict


@pytest.mark.parametrize(
    ("tensor", "count"),
    [
        (np.zeros((3, 4), np.float32), 12),
        (np.zeros(12, np.float16), 12),
        (np.zeros(12, np.uint8), 12),
        (np.zeros(12, np.int64), 24),
        (np.zeros(5, np.float64), 10),
        (np.zeros(0, np.float32), 0),
    ],
)
def test_no_width_hides_a_number(tensor: np.ndarray, count: int) -> None:
    assert parameter_count({"a": tensor, "b": np.zeros(1, np.float32)}) == count + 1


@pytest.mark.parametrize(
    ("tensors", "name"),
    [
        ({"a": np.zeros(11, np.float32)}, "parameters"),
        ({"a": np.zeros(6, np.float32), "frozen": np.zeros(6, np.float32)}, "parameters"),
        ({"a": np.zeros(6, np.int64)}, "parameters"),
        ({"a": np.array([1.0, np.nan], np.float32)}, "weights"),
        ({"a": np.array([1.0, np.inf], np.float16)}, "weights"),
    ],
)
def test_too_many_or_unsound_numbers_end_it(
    workspace: Path, submit: Submit, tensors: dict[str, np.ndarray], name: str
) -> None:
    save_file(tensors, workspace / "w.safetensors")
    with pytest.raises(Unmet) as unmet:
        list(within_capacity(submit(), "w.safetensors", 10))
    assert unmet.value.name == name


def test_what_fits_is_two_checks(workspace: Path, submit: Submit) -> None:
    save_file({"a": np.ones(10, np.float32)}, workspace / "w.safetensors")
    assert [one.passed for one in within_capacity(submit(), "w.safetensors", 10)] == [True, True]


def test_a_pickle_is_no_safetensors_file(workspace: Path, submit: Submit) -> None:
    (workspace / "w.safetensors").write_bytes(b"\x80\x04cposix\nsystem\n" + b"x" * 100)
    with pytest.raises(Unmet, match="safetensors"):
        list(within_capacity(submit(), "w.safetensors", 10))


def test_code_is_small(workspace: Path, submit: Submit) -> None:
    (workspace / "utils.py").write_text("#" * 2000, encoding="utf-8")
    assert all(one.passed for one in small_code(submit(), ["utils.py"], 2))
    with pytest.raises(Unmet, match="at most 1 kB"):
        list(small_code(submit(), ["utils.py"], 1))
    with pytest.raises(Unmet, match=r"no other\.py"):
        list(small_code(submit(), ["utils.py", "other.py"], 9))


@pytest.mark.parametrize(("value", "passed", "word"), [(0.82, True, "0.02 above"), (0.75, False, "0.05 below")])
def test_a_threshold_says_its_margin(value: float, passed: bool, word: str) -> None:
    made = beats("accuracy", value, 0.8)
    assert made.passed is passed and word in made.seen and "at least 0.8" in made.expected


def test_nan_beats_nothing() -> None:
    assert not beats("accuracy", float("nan"), 0.8).passed


def test_the_primary_metric_is_the_score() -> None:
    checks = (beats("accuracy", 0.7, 0.8), beats("other", 0.9, 0.8))
    metrics = (Metric("loss", 3.0), Metric("accuracy", 0.7))
    assert Verdict(checks, metrics).score == 0.5
    assert Verdict(checks, metrics, "accuracy").score == 0.7
    assert Verdict(checks, (), "accuracy").score == 0.0
    kept = read_verdict(write_verdict(Verdict(checks, metrics, "accuracy")))
    assert kept == Verdict(checks, metrics, "accuracy")
