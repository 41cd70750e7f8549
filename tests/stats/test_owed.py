"""The command that a study's missing runs need."""

from __future__ import annotations

from mldevbench.owed import run_command
from mldevbench.records import AgentSpec, Budget
from mldevbench.study import Request, TaskRef


def request(*agents: AgentSpec, seeds: tuple[int, ...] = (0, 1, 2)) -> Request:
    task = TaskRef("nan_losses", "debugging", "d", "v", 0.0, 1.0)
    return Request(agents, (task,), "mini", seeds, 2, (Budget(steps=20, minutes=5.0),))


def test_the_request_is_spelled_out() -> None:
    spec = AgentSpec("react", "react-gpt-4o", "d", "openai/gpt-4o", '{"temperature":0.5}')
    assert run_command("mine", request(spec, AgentSpec("oracle", "oracle", "d")), "results") == (
        "mldevbench run --name mine --storage results --profile mini --seeds 3 --instances 2 "
        "--agent react=openai/gpt-4o --param react.temperature=0.5 --agent oracle --task nan_losses "
        "--budget steps=20,minutes=5"
    )


def test_odd_seeds_are_listed() -> None:
    assert "--seeds 3,7 " in run_command("mine", request(AgentSpec("oracle", "oracle", "d"), seeds=(3, 7)), "results")


def test_own_labels_need_the_study_file() -> None:
    command = run_command("mine", request(AgentSpec("oracle", "best", "d")), "results")
    assert command == "mldevbench run STUDY.yaml --name mine --storage results"
