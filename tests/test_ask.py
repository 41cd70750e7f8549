"""Options and study files: what they mean, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.ask import Options, parse_seeds, read_study, request_of
from mldevbench.catalog import Catalog
from mldevbench.errors import UserError
from mldevbench.plan import plan
from mldevbench.study import check_name, default_name


def request(**options: object):
    said = {"agents": ["oracle"], "tasks": ["hello_world"], **options}
    return request_of(read_study(None, Options(**said)), Catalog.of(), "bubblewrap", "salt")


def test_agents_and_models_multiply_but_not_for_those_without() -> None:
    made = request(agents=["react", "oracle"], models=["openai/a", "openai/b"])
    assert [spec.label for spec in made.agents] == ["react-a", "react-b", "oracle"]


def test_an_agent_can_be_bound_to_a_model() -> None:
    made = request(agents=["react=openai/a", "oracle"], models=["openai/b"])
    assert [(spec.label, spec.model) for spec in made.agents] == [("react-a", "openai/a"), ("oracle", None)]


def test_five_seeds_are_nought_to_four() -> None:
    assert request(seeds="5").seeds == (0, 1, 2, 3, 4)
    assert request(seeds="3,7").seeds == (3, 7)


def test_a_plan_is_the_product_and_whole_seeds_come_first() -> None:
    made = request(agents=["oracle", "noop"], seeds="3", instances=2, budgets=["steps=5", "steps=10"])
    runs = plan([made]).runs
    assert len(runs) == 2 * 3 * 2 * 2
    assert [run.seed for run in runs] == sorted(run.seed for run in runs)
    assert len({run.run_id for run in runs}) == len(runs)


def test_requests_unite_without_repeats() -> None:
    assert len(plan([request(seeds="2"), request(seeds="5")])) == 5


@pytest.mark.parametrize("name", ["", "../up", "a b", "x" * 101, "paper"])
def test_a_study_can_have_no_name_that_means_something_else(name: str) -> None:
    with pytest.raises(UserError, match="study name"):
        check_name(name)


def test_the_default_name_ignores_seeds_and_limits() -> None:
    assert default_name(request(seeds="2")) == default_name(request(seeds="9"))
    assert default_name(request()) != default_name(request(agents=["noop"]))


def test_options_replace_the_file(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text("name: mine\nagents: [{agent: oracle}]\ntasks: [hello_world]\nseeds: 4\nbudget: {steps: 9}\n")
    study = read_study(file, Options(seeds="2"))
    assert study.name == "mine" and study.seeds == 2
    (budget,) = request_of(study, Catalog.of(), "bubblewrap", "").budgets
    assert budget.steps == 9 and budget.minutes == 60


def test_params_reach_one_label_or_all() -> None:
    study = read_study(
        None, Options(agents=["react=a/b", "oracle"], tasks=["hello_world"], params=["react.temperature=1.5"])
    )
    assert [entry.params for entry in study.agents] == [{"temperature": 1.5}, {}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tasks": []}, "no task; add --task"),
        ({"agents": []}, "no agent; add --agent"),
        ({"agents": ["react"]}, "agent 'react' needs a model; add --model"),
        ({"profile": "maxi"}, "unknown profile 'maxi'; did you mean 'mini'"),
        ({"budgets": ["step=5"]}, "unknown unit 'step'; did you mean 'steps'"),
        ({"budgets": ["steps=many"]}, "steps must be a number, not 'many'"),
        ({"budgets": ["steps=0"]}, "steps must be more than 0"),
        ({"limit": "dollars=5"}, "--limit 'dollars=5': unknown unit 'dollars'"),
        ({"seeds": "few"}, "--seeds 'few'"),
        ({"seeds": "0"}, "seeds"),
        ({"instances": 0}, "instances"),
        ({"gpus": "some"}, "neither a number nor auto"),
        ({"params": ["temperature"]}, "write key=value"),
        ({"params": ["nobody.key=1"]}, "unknown agent label 'nobody'"),
        ({"params": ["speed=1"]}, "unknown parameter of agent oracle 'speed'"),
    ],
)
def test_bad_options_are_one_line(options: dict, said: str) -> None:
    with pytest.raises(UserError) as error:
        request(**options)
    assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed: 5", ":1: unknown key 'seed'; did you mean 'seeds'"),
        ("name: a\nbudget: {step: 5}", ":2: unknown key 'step'; did you mean 'steps'"),
        ("name: 5", ":1: name: input should be a valid string"),
        ("- a", "must be a mapping"),
        ("name: [", "not valid YAML"),
        ("agents: [{model: x}]", "agent: is missing"),
    ],
)
def test_a_bad_study_file_names_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_study(file, Options())
    assert said in str(error.value) and str(file) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["network: mirror", "network: allow=", "network: allow=10.0.0.1"])
def test_a_network_that_nobody_can_open_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"network '.*': "):
        read_study(file, Options())


def test_no_seeds_said_is_none() -> None:
    assert parse_seeds(None) is None
