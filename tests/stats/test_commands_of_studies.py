"""The commands: what they print, what fits a terminal, what they refuse, what JSON they give."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from stats.making import make_study, rows_of
from typer.testing import CliRunner

from mldevbench.cli.app import app
from mldevbench.cli.studying import Studying
from mldevbench.errors import UserError

pytestmark = pytest.mark.slow


def called(*words: str) -> str:
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words: str) -> str:
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, UserError)
    return str(result.exception)


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Studies that the tests only read."""
    tmp_path = tmp_path_factory.mktemp("results")
    tasks = {f"task_{number:02d}": "11010"[number % 5 :] + "11010"[: number % 5] for number in range(30)}
    rows = [*rows_of("good", {name: "11111" for name in tasks}), *rows_of("flaky", tasks)]
    rows += rows_of("void", {name: word.replace("0", "v") for name, word in tasks.items()})
    make_study(tmp_path, "made", rows)
    levels = [
        one
        for budget in (5, 10, 20, 40)
        for one in rows_of("climber", {f"t{n}": "1" if n * 2 < budget else "0" for n in range(30)}, budget_steps=budget)
    ]
    make_study(tmp_path, "levels", levels)
    make_study(
        tmp_path, "many", [one for n in range(9) for one in rows_of(f"label-{n}", dict(list(tasks.items())[n:]))]
    )
    return str(tmp_path)


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [("react-sonnet", "openhands-sonnet", "p = 1\n"), ("openhands-sonnet", "aide-4o", "p = 0.00195\n")],
)
def test_the_paper_is_a_study_too(first: str, second: str, value: str) -> None:
    assert value in called("compare", f"paper:{first}", f"paper:{second}")


def test_several_labels_give_all_pairs_with_holm() -> None:
    text = called("compare", "paper")
    assert text.count("paper:react-4o") == 3
    assert "0.0117" in text and "Holm corrects for 6 pairs" in text


def test_every_default_output_fits_a_terminal(storage: str) -> None:
    for words in (
        ("compare", "paper"),
        ("compare", "made:good", "made:flaky", "--storage", storage),
        ("compare", "many", "--storage", storage),
        ("plan",),
        ("variance", "many", "--storage", storage, "--until-half-width", "0.05"),
        ("variance", "made", "--storage", storage),
        ("scale", "levels", "--storage", storage),
        ("scale", "made", "--storage", storage),
    ):
        assert len(called(*words).splitlines()) <= 40, words


def test_full_says_more(storage: str) -> None:
    for words in (("compare", "made", "--storage", storage), ("variance", "made", "--storage", storage)):
        assert len(called(*words, "--full").splitlines()) > len(called(*words).splitlines())


def test_json_is_one_object_without_nan(storage: str) -> None:
    def no_constant(name: str) -> None:
        raise AssertionError(name)

    for words in (
        ("compare", "paper"),
        ("plan", "made:good", "--storage", storage),
        ("variance", "made", "--storage", storage, "--label", "void"),
        ("scale", "levels", "--storage", storage),
    ):
        assert isinstance(json.loads(called(*words, "--json"), parse_constant=no_constant), dict)


def test_variance_says_what_is_flaky_void_and_owed(storage: str) -> None:
    result = CliRunner().invoke(app, ["variance", "made", "--storage", storage])
    assert "90 of 540 runs are missing" in result.stderr
    assert "run them with: mldevbench run STUDY.yaml --name made --storage" in result.stderr
    assert "task_00 (agent, 3/5)" in result.stdout
    assert "60 [60, 100]" in result.stdout


def test_void_stands_beside_every_pair(storage: str) -> None:
    text = called("compare", "made", "--storage", storage)
    assert "0, 60 [−40.0, +0.0]" in text and "void runs are left out" in text


@pytest.mark.parametrize(
    ("file", "words", "told"),
    [
        ("seeds: 2\n", (), ()),
        ("seeds: [7]\n", (), ()),
        ("", (), ("--seeds", "5")),
        ("seeds: 2\n", ("--seeds", "3"), ("--seeds", "3")),
    ],
)
def test_a_study_file_says_its_seeds(
    storage: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    words: tuple[str, ...],
    told: tuple[str, ...],
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(Studying, "run", lambda self, *more: asked.append(more) or 0)
    study = tmp_path / "study.yaml"
    study.write_text(f"name: made\nagents: [{{agent: oracle}}]\ntasks: [hello_world]\n{file}", encoding="utf-8")
    called("variance", str(study), "--storage", storage, *words)
    assert asked == [told]


def test_refusals_name_the_thing_and_the_remedy(storage: str) -> None:
    assert "did you mean 'react-sonnet'" in refused("compare", "paper:react-sonet", "paper:aide-4o")
    assert "name another" in refused("compare", "paper:aide-4o")
    assert "unknown study 'nothing'" in refused("compare", "nothing:a", "paper", "--storage", storage)
    assert "no task in common" in refused(
        "compare", "made:good", "paper:aide-4o", "--across-profiles", "--storage", storage
    )
    assert "between 0 and 1" in refused("plan", "--half-width", "5")
    assert "did you mean 'steps'" in refused("scale", "levels", "--axis", "step", "--storage", storage)
    assert "more than 4 times" in refused("scale", "levels", "--at", "1000", "--storage", storage)


def test_scale_shows_levels_and_a_prediction(storage: str) -> None:
    text = called("scale", "levels", "--storage", storage, "--at", "80")
    assert "scaling with steps, rerun at each level" in text
    assert "half of the runs pass at" in text
    assert "fitted at 80 steps" in text


@pytest.mark.crowd
def test_plan_answers_in_two_seconds_of_work() -> None:
    """Processor time, which neighbours lengthen too, but never shorten: the least of three tries tells most of us."""

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-m", "mldevbench", "plan"], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert "can't tell" in done.stdout
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    assert min(seconds() for _ in range(3)) < 2


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom mldevbench.cli.app import app\n"
        "heavy = {'ray', 'torch', 'litellm', 'wandb', 'scipy', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
