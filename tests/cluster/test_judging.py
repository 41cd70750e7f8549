"""Judging again on nodes that come and go: a judge that is lost is replaced, and no verdict is made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ray.exceptions import RayActorError
from stats.making import rows_of

from cluster import judging
from cluster.berth import Berth
from cluster.crew import Crew
from cluster.judging import RETRIES, Piece, judge_all
from cluster.shape import Node, Shape
from cluster.validation_actor import Graded
from mldevbench.catalog import Catalog
from mldevbench.errors import UserError
from mldevbench.records import Cause, Check, Verdict
from mldevbench.store.place import open_place
from mldevbench.validate import Judgement

PASS = Graded(Judgement(Verdict((Check("answer", True, "yes", "yes"),))), 0.1)
BROKEN = Graded(Judgement(None, Cause.VALIDATOR_ERROR), 0.1)
LOST = RayActorError()


class Reference:
    """Stands for what Ray gives back for a call: here the answer is known at once."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def get(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch, plugins: Path, tmp_path: Path) -> Callable[..., list[Graded]]:
    """Judge pieces by actors that answer by a script, one answer for each piece that is handed to them."""

    def run(pieces: int, script: list[Any], complaint: str = "") -> list[Graded]:
        def hire(*_: object) -> Any:
            ready = lambda: Reference(Berth("n", "host", complaint))  # noqa: E731
            grade = lambda exam, place, task: Reference(script.pop(0))  # noqa: E731
            return SimpleNamespace(ready=SimpleNamespace(remote=ready), grade=SimpleNamespace(remote=grade))

        ray = SimpleNamespace(wait=lambda given, num_returns: (given[:1], given[1:]), get=Reference.get)
        monkeypatch.setattr(judging, "ray", ray)
        monkeypatch.setattr(judging, "hirer", lambda site: hire)
        monkeypatch.setattr(judging, "berth_of", Reference.get)
        monkeypatch.setattr(judging, "live_nodes", lambda: [Node("n", Shape(1, 0, 8))])
        monkeypatch.setattr(judging, "Luggage", lambda catalog: SimpleNamespace(whole=lambda task: None))
        monkeypatch.setattr(Crew, "_end", staticmethod(lambda actor: None))
        rows = rows_of("one", {"quick": "1" * pieces})
        asked = [Piece(row, f"{row.seed}.tar", "d") for row in rows]
        made = list(judge_all(asked, open_place(str(tmp_path / "s")), Catalog.of([plugins]), bytes(32)))
        assert [piece for piece, _ in made] == asked and not script
        return [graded for _, graded in made]

    return run


def test_a_lost_judge_is_replaced(judged: Callable[..., list[Graded]]) -> None:
    assert judged(3, [PASS, *[LOST] * RETRIES, PASS, LOST, PASS]) == [PASS] * 3


def test_what_no_judge_survives_is_void(judged: Callable[..., list[Graded]]) -> None:
    lost, after = judged(2, [*[LOST] * (RETRIES + 1), PASS])
    assert (lost.judgement.verdict, lost.judgement.cause, after) == (None, Cause.NODE_LOST, PASS)


def test_a_validator_that_breaks_now_and_then_is_asked_again(judged: Callable[..., list[Graded]]) -> None:
    assert judged(1, [BROKEN, PASS]) == [PASS]


def test_nodes_that_all_lack_something_are_not_waited_for(judged: Callable[..., list[Graded]]) -> None:
    with pytest.raises(UserError, match="host: no sandbox"):
        judged(1, [], complaint="no sandbox")
