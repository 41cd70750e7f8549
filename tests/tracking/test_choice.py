"""Whether a study is logged to W&B, what is counted, and what a line of its history says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mldevbench.ask import Options, read_study
from mldevbench.errors import UserError
from mldevbench.records import Cause, Outcome, RunRow
from mldevbench.reference import paper_rows
from mldevbench.tracking.board import values_of
from mldevbench.tracking.choice import Choice, choose
from mldevbench.tracking.counting import Counting
from mldevbench.tracking.message import Count, Point, Subject


def row(run_id: str, outcome: Outcome, usd: float | None = 0.5) -> RunRow:
    return replace(
        paper_rows()[0], label="a", run_id=run_id, outcome=outcome, spent_usd=usd, spent_gpu_seconds=10.0,
        total_tokens=100, cause=Cause.NODE_LOST if outcome is Outcome.VOID else None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "environment", "expected"),
    [
        (None, {}, "disabled"),
        (None, {"WANDB_MODE": "offline"}, "offline"),
        (None, {"WANDB_MODE": "dryrun"}, "offline"),
        ("disabled", {"WANDB_MODE": "online"}, "disabled"),
        ("online", {"WANDB_MODE": "disabled"}, "online"),
    ],
)
def test_the_nearest_word_wins(mode: str | None, environment: dict[str, str], expected: str) -> None:
    assert choose(mode, None, environment) == Choice(expected, "mldevbench")


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(UserError, match=r"unknown W&B mode 'onlin'; did you mean 'online'\?"):
        choose(None, None, {"WANDB_MODE": "onlin"})


def test_the_option_replaces_the_mode_and_keeps_the_project(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text("wandb: {mode: online, project: mine}", encoding="utf-8")
    study = read_study(file, Options(wandb="offline"))
    assert (study.wandb.mode, study.wandb.project) == ("offline", "mine")
    with pytest.raises(UserError, match=r"wandb\.mode"):
        read_study(file, Options(wandb="loud"))


def test_a_void_that_is_made_good_stops_counting() -> None:
    counting = Counting([Subject("a", "id", 3)], [row("1", Outcome.PASSED), row("2", Outcome.VOID)])
    assert counting.by_label["a"] == Count(3, passed=1, void=1, spent_usd=1.0, gpu_seconds=20.0, tokens=200)
    counting.add(row("2", Outcome.FAILED, usd=0.75))
    assert counting.by_label["a"] == Count(3, passed=1, failed=1, spent_usd=1.25, gpu_seconds=20.0, tokens=200)
    counting.add(row("3", Outcome.PASSED, usd=None))
    assert counting.by_label["a"].spent_usd is None
    assert counting.add(replace(row("4", Outcome.PASSED), label="b")) is None


def test_what_is_not_known_is_not_logged() -> None:
    values = values_of(Point("a", Count(4, passed=1, failed=1, spent_usd=None), 2))
    assert (values["success"], values["progress"], values["running"]) == (0.5, 0.5, 2)
    assert "spent_usd" not in values and "run/score" not in values
    assert "success" not in values_of(Point("a", Count(4, void=1), 0))
