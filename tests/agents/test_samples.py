"""Best of n: several tries of one agent, of which the one that looks best from inside is handed in."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mldevbench import workspace
from mldevbench.catalog import Catalog
from mldevbench.digest import canonical
from mldevbench.draw import Draw
from mldevbench.errors import UserError
from mldevbench.execute import Means, Order
from mldevbench.model.price import Price
from mldevbench.model.spec import ModelSpec
from mldevbench.records import AgentSpec, Budget, Run, StopReason, Submitted, Usage
from mldevbench.sampling import Sample, Sampled, added, attempt_of, best
from mldevbench.sandbox.protocol import Finished
from mldevbench.store.place import open_place
from mldevbench.submission import collect
from mldevbench.trajectory import stored_steps
from mldevbench.validate import RoomSettings, validate_submission
from mldevbench.visible import Bench, Look, share_of


def sample(number: int, share: float | None, reason: StopReason = StopReason.FINISHED) -> Sample:
    now = datetime.now(UTC)
    submitted = Submitted("r", 1, "a", "d", reason, "", Usage(), now, now, 1.0, 1.0, "bubblewrap", "none", "n")
    return Sample(number, submitted, Look(share))


@pytest.mark.parametrize(
    ("samples", "chosen"),
    [
        ([sample(0, 0.5), sample(1, 1.0), sample(2, 0.9)], 1),
        ([sample(0, 1.0), sample(1, 1.0)], 0),
        ([sample(0, 1.0, StopReason.STEPS), sample(1, 1.0)], 1),
        ([sample(0, None, StopReason.AGENT_ERROR), sample(1, None)], 1),
        ([sample(0, None), sample(1, None)], 0),
    ],
)
def test_the_choice(samples: list[Sample], chosen: int) -> None:
    assert best(samples).number == chosen


@pytest.mark.parametrize(
    ("code", "said", "share"),
    [
        (0, b"fine", 1.0),
        (1, b"Ran 8 tests in 0.1s\n\nFAILED (failures=1, errors=1)", 0.75),
        (1, b"Traceback", 0.0),
        (None, b"Ran 8 tests", 0.0),
    ],
)
def test_how_much_of_a_test_file_holds(code: int | None, said: bytes, share: float) -> None:
    assert share_of(Finished(code, said, len(said), 1.0, timed_out=code is None)) == share


def test_a_cost_that_is_unknown_stays_unknown() -> None:
    known = Usage(steps=1, prompt_tokens=2, cost_usd=0.5, model_served="a")
    assert added([known, known]).cost_usd == 1.0 and added([known, known]).steps == 2
    assert added([known, replace(known, cost_usd=None)]).cost_usd is None


@pytest.mark.slow
def test_a_folder_in_a_given_files_place_looks_bad_and_breaks_nothing(tmp_path: Path, task_venv: Path) -> None:
    task = Catalog.of([]).task("vit_debugging")
    draw, given = Draw.of(bytes(32), task.id, 0), tmp_path / "given"
    workspace.build(task, draw, "mini", given)
    place = next((given / "tiny_vit").glob("*.py"))
    place.unlink()
    place.mkdir()
    (place / "x.py").write_text("", encoding="utf-8")
    archive = tmp_path / "submission.tar"
    manifest = collect(given, task.submission, task.submission_max_mb, archive, witness=task.protected)
    bench = Bench(task, draw, "mini", "bubblewrap", task_venv, tmp_path / "scratch")
    assert bench.look(archive, manifest.digest) == Look(0.0)
    assert not list((tmp_path / "scratch").iterdir())


LORA = "lora"  # a task that gives a test away, which an empty file fails


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_better_try_is_handed_in(tmp_path: Path, task_venv: Path) -> None:
    """Two of three tries leave rubbish; every one has its own seed, its own workspace and the whole budget."""
    catalog = Catalog.of([])
    task, react = catalog.task(LORA), catalog.agent("react")
    right = {path.name: path.read_text(encoding="utf-8") for path in (task.folder / "solution").iterdir()}
    calls = [{"create_file": {"path": name, "content": text}} for name, text in right.items()]
    given = [path.name for path in (task.folder / "workspace").iterdir() if not path.name.startswith("test_")]
    rubbish = [{"create_file": {"path": name, "content": "raise ValueError"}} for name in given]
    model = ModelSpec("scripted/x", script="{}", price=Price(1, 2))
    spec = AgentSpec("react", "react", react.digest(), model.name, canonical(react.settings({})))
    run = Run(spec, task.id, task.category, "digest", "mini", 0, 0, Budget(steps=4), samples=3)
    draw, place = Draw.of(bytes(32), task.id, 0), open_place(str(tmp_path / "study"))
    means = Means(task=task, agent=react, venv=task_venv, scratch=tmp_path / "scratch", place=place)
    attempt = attempt_of(Order("study", run, 1, draw, "bubblewrap", model=model), means)
    assert isinstance(attempt, Sampled)
    turns = iter([[{"calls": rubbish}], [{"calls": calls}], [{"calls": rubbish}]])
    play = attempt._try

    def another(number: int) -> Sample:
        attempt.order = replace(attempt.order, model=replace(model, script=json.dumps({"turns": next(turns)})))
        return play(number)

    attempt._try = another
    submitted = attempt.execute()
    assert "sample 2 of 3 was handed in; visible tests: 100%" in submitted.detail
    assert submitted.usage.steps == 6 and submitted.run_id == run.run_id
    settings = RoomSettings("bubblewrap", task_venv, tmp_path / "judge")
    archive = tmp_path / "study" / submitted.archive
    assert validate_submission(task, archive, submitted.digest, draw, "mini", settings).passed
    steps = stored_steps(place.child(f"artifacts/{run.run_id}/1"))
    assert sum(step.usage.total_tokens for step in steps if step.role == "model") == submitted.usage.total_tokens
    assert [step.text.endswith("(handed in)") for step in steps if step.text.startswith("sample ")] == [
        False, True, False,
    ]  # fmt: skip
    seeds = {json.loads(step.arguments or "{}")["sampling"]["seed"] for step in steps if step.role == "model"}
    assert seeds == {0, 1, 2}
    assert not list((tmp_path / "scratch").iterdir())


def test_snapshots_and_samples_do_not_go_together(tmp_path: Path) -> None:
    from mldevbench.ask import Options, read_study

    assert read_study(None, Options(samples=3)).samples == 3
    with pytest.raises(UserError, match="leave it out, or --samples"):
        read_study(None, Options(samples=3, snapshot_every="steps=5"))
