"""ReAct with scripted models on real tasks, in the real sandbox, judged by the real validators; no Ray."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mldevbench.catalog import Catalog
from mldevbench.digest import canonical
from mldevbench.draw import Draw
from mldevbench.errors import Fault
from mldevbench.execute import Attempt, Means, Order
from mldevbench.model.failure import StudyStopper
from mldevbench.model.price import Price
from mldevbench.model.replay import script_of
from mldevbench.model.spec import ModelSpec, resolve
from mldevbench.records import AgentSpec, Budget, Run, Step, StopReason, Submitted, Verdict
from mldevbench.store.place import open_place
from mldevbench.trajectory import rows_of_steps, stored_steps
from mldevbench.validate import RoomSettings, validate_submission

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parent / "scripts"
KEY = "sk-planted-in-a-test-0123456789"
FOUR = ["nan_losses", "forward_shape_mismatch", "dataset_preprocessing", "overfit_small_dataset"]


@dataclass(frozen=True)
class Played:
    submitted: Submitted
    steps: list[Step]
    verdict: Callable[[], Verdict]


Play = Callable[..., Played]


@pytest.fixture
def play(tmp_path: Path, task_venv: Path) -> Play:
    """Run ReAct on a task and return how it ended; nothing of it is a stand-in but the model."""
    catalog = Catalog.of([])
    react = catalog.agent("react")

    def run(task_name: str, model: ModelSpec, budget: Budget | None = None, **params: object) -> Played:
        task = catalog.task(task_name)
        spec = AgentSpec("react", "react", react.digest(), model.name, canonical(react.settings(params)))
        asked = Run(spec, task.id, task.category, "digest", "mini", 0, 0, budget or Budget())
        draw = Draw.of(bytes(32), task.id, 0)
        order = Order("study", asked, 1, draw, "bubblewrap", model=model, secrets=(KEY,))
        place = open_place(str(tmp_path / "study"))
        means = Means(task=task, agent=react, venv=task_venv, scratch=tmp_path / "scratch", place=place)
        submitted = Attempt(order, means).execute()

        def verdict() -> Verdict:
            settings = RoomSettings("bubblewrap", task_venv, tmp_path / "judge")
            archive = tmp_path / "study" / submitted.archive
            return validate_submission(task, archive, submitted.digest, draw, "mini", settings)

        return Played(submitted, stored_steps(place.child(f"artifacts/{submitted.run_id}/1")), verdict)

    return run


def scripted(name: str) -> ModelSpec:
    return resolve(f"scripted/{SCRIPTS / name}", environment={}, price=Price(1, 2))


def turns(*turns: object, **spec: object) -> ModelSpec:
    return ModelSpec("scripted/x", script=json.dumps({"turns": turns}), **spec)  # type: ignore[arg-type]


@pytest.mark.parametrize("task", FOUR)
def test_a_script_that_solves_and_one_that_gives_up(play: Play, task: str) -> None:
    solved = play(task, scripted("solve.yaml"))
    verdict = solved.verdict()
    assert verdict.passed, [check for check in verdict.checks if not check.passed]
    assert solved.submitted.stop_reason is StopReason.FINISHED
    usage = solved.submitted.usage
    called = [step for step in solved.steps if step.role == "model"]
    assert usage.steps == len(called) and usage.total_tokens == sum(step.usage.total_tokens for step in called)
    assert usage.cost_usd == pytest.approx((usage.prompt_tokens + 2 * usage.completion_tokens) / 1e6)
    rows = rows_of_steps("study", solved.submitted.run_id, 1, solved.steps)
    assert rows[-1].used_tokens == usage.total_tokens and rows[-1].used_steps == usage.steps
    assert all(step.exit_code in (0, None) for step in solved.steps if step.tool and step.tool != "shell")
    if task == "overfit_small_dataset":
        assert [step.tool for step in solved.steps if step.tool] == ["create_file", "spawn", "sleep_and_execute"]

    gave_up = play(task, scripted("give_up.yaml"))
    assert gave_up.submitted.stop_reason is StopReason.FINISHED and not gave_up.verdict().passed


def test_two_files_are_repaired_by_edits_and_tried_before_the_end(play: Play) -> None:
    model, data = "shapes_classifier/model.py", "shapes_classifier/data.py"
    edits = [
        (model, "from trainloop_classic import Module", "from trainloop import Module"),
        (data, "from trainloop_classic import DataModule", "from trainloop import DataModule"),
        (data, 'np.load(folder / "labels.npy"))', 'np.load(folder / "labels.npy")).long()'),
        (model, ".softmax(dim=1)", ""),
        (data, "pictures = Pictures(self.folder, transform=augmented)", "pictures = Pictures(self.folder, augmented)"),
        (
            data,
            "Subset(pictures, range(cut, len(pictures)))\n        self.validation.dataset.transform = plain",
            "Subset(Pictures(self.folder, plain), range(cut, len(pictures)))",
        ),
    ]
    look = {"calls": [{"shell": {"command": "python train.py; echo ended with $?"}}]}
    edited = [{"calls": [{"edit_file": {"path": path, "old": old, "new": new}}]} for path, old, new in edits]
    solved = play("fix_model_and_dataloader", turns(look, *edited, look, {"text": "Repaired, and train.py runs."}))
    tried = [step.text for step in solved.steps if step.tool == "shell"]
    assert "ended with 1" in tried[0] and "ended with 0" in tried[1]
    assert [step.tool for step in solved.steps if step.tool] == ["shell", *["edit_file"] * len(edits), "shell"]
    verdict = solved.verdict()
    assert verdict.passed, [check for check in verdict.checks if not check.passed]
    half = play("fix_model_and_dataloader", turns(*edited[:3], {"text": "It runs now."}))
    assert not half.verdict().passed, "the silent faults are still there"


def test_a_recorded_run_can_be_played_again(play: Play) -> None:
    first = play("hello_world", scripted("solve.yaml"))
    assert first.verdict().passed
    again = play("hello_world", ModelSpec("replay/study", script=script_of(first.steps)))
    assert again.verdict().passed
    assert [step.text for step in again.steps] == [step.text for step in first.steps]


def test_the_budget_ends_it_and_what_is_there_is_judged(play: Play) -> None:
    greet = {"calls": [{"shell": {"command": "echo \"print(open('greeting.txt').read())\" > hello.py"}}]}
    ended = play("hello_world", turns(greet, *[{"calls": [{"shell": {"command": "true"}}]}] * 9), Budget(steps=3))
    assert ended.submitted.stop_reason is StopReason.STEPS and ended.submitted.usage.steps == 3
    assert not ended.verdict().passed
    bounded = play("hello_world", turns({"text": "x", "usage": {"prompt": 90, "completion": 9}}), Budget(tokens=100))
    assert bounded.submitted.stop_reason is StopReason.TOKENS and bounded.submitted.usage.total_tokens == 0


def test_mistakes_of_the_model_come_back_to_it(play: Play) -> None:
    ended = play(
        "hello_world",
        turns(
            {"calls": [{"shell": "{broken"}, {"nothing": {}}]},
            {"text": "cut", "finish": "length"},
            {"text": "done"},
        ),
    )
    told = [step.text for step in ended.steps if step.role == "tool"]
    assert "not JSON" in told[0] and "there is no tool" in told[1]
    assert ended.submitted.usage.steps == 3 and ended.submitted.stop_reason is StopReason.FINISHED


def test_models_that_cannot_call_tools(play: Play) -> None:
    block = '```tool\n{"tool": "shell", "arguments": {"command": "echo here"}}\n```'
    ended = play("hello_world", turns({"text": block}, {"text": "done"}, tools=False))
    assert [step.text for step in ended.steps if step.role == "tool"] == ["here\n\n[exit code 0]"]
    assert ended.submitted.usage.steps == 2


def test_a_context_that_is_too_long_is_trimmed_and_then_its_own_failure(play: Play) -> None:
    noisy = {"calls": [{"shell": {"command": "seq 2000"}}]}
    too_long = {"error": {"status": 400, "message": "maximum context length is 10 tokens"}}
    saved = play("hello_world", turns(*[noisy] * 6, too_long, {"text": "done"}))
    assert saved.submitted.stop_reason is StopReason.FINISHED
    lost = play("hello_world", turns(noisy, *[too_long] * 9))
    assert lost.submitted.stop_reason is StopReason.CONTEXT and lost.submitted.usage.steps == 1


def test_whose_fault_it_is(play: Play) -> None:
    outage = {"error": {"status": 503}}
    with pytest.raises(Fault, match="provider_error"):
        play("hello_world", turns(*[outage] * 9, patience_seconds=0.5))
    with pytest.raises(StudyStopper, match="check the key"):
        play("hello_world", turns({"error": {"status": 401}}))
    refused = play("hello_world", turns({"error": {"status": 400, "message": "bad"}}))
    assert refused.submitted.stop_reason is StopReason.REQUEST


def test_the_hard_stop_reaches_an_agent_that_waits_for_its_model(play: Play) -> None:
    slow = turns({"text": "late", "delay": 600})
    ended = play("hello_world", slow, Budget(minutes=60, wall_minutes=0.2))
    assert ended.submitted.stop_reason is StopReason.WALL_MINUTES and ended.submitted.wall_seconds < 120
    assert ended.submitted.usage.steps == 1, "it was cut, and charged"


def test_a_planted_key_is_in_no_recorded_file(play: Play, tmp_path: Path) -> None:
    leak = {"text": f"the key is {KEY}", "calls": [{"shell": {"command": f"echo {KEY} | base64; echo {KEY}"}}]}
    play("hello_world", turns(leak, {"text": "done"}))
    for path in (tmp_path / "study").rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes(), path
