"""The records are the interface: columns, schema, and what makes a run the same run."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from mldevbench.records import AgentSpec, AttemptRow, Budget, CheckRow, Outcome, Run, RunRow, StepRow, Verdict
from mldevbench.schema import rows_of, schema_of, table_of

DESIGNED = """
study run_id label agent model model_served params task category profile instance seed samples budget_steps
budget_minutes budget_wall_minutes budget_tokens budget_usd outcome cause stop_reason score metrics attempts
steps prompt_tokens completion_tokens cached_tokens reasoning_tokens total_tokens cost_usd spent_usd
wall_seconds working_seconds model_seconds wait_seconds queue_seconds validate_seconds gpus gpu_seconds
spent_gpu_seconds gpu_shared gpu_type node isolation network started_at finished_at task_digest
validator_digest agent_digest salt_digest mldevbench_version
"""
SPEC = AgentSpec("react", "react-4o", "digest", "openai/gpt-4o", "{}")
RUN = Run(SPEC, "nan_losses", "debugging", "task", "mini", 0, 0, Budget())


def test_the_columns_of_runs_are_the_designed_ones() -> None:
    assert schema_of(RunRow).names == [*DESIGNED.split(), "limits"]


@pytest.mark.parametrize("row", [RunRow, AttemptRow, CheckRow, StepRow])
def test_only_optional_fields_may_be_null(row: type) -> None:
    for field in dataclasses.fields(row):
        assert schema_of(row).field(field.name).nullable == ("None" in str(field.type)), field.name


def test_a_row_comes_back_as_it_was() -> None:
    row = CheckRow("s", "r", 1, 0, "name", True, "this", "that")
    assert rows_of(CheckRow, table_of(CheckRow, [row])) == [row]


def test_enumerations_and_times_come_back_as_such() -> None:
    now = datetime.now(UTC)
    blank = {
        field.name: (0 if "int" in str(field.type) else 0.0 if "float" in str(field.type) else "")
        for field in dataclasses.fields(RunRow)
    }
    row = RunRow(
        **{**blank, "outcome": Outcome.VOID, "cause": None, "stop_reason": None, "gpu_shared": False, "score": None,
           "started_at": now, "finished_at": now}
    )  # fmt: skip
    (back,) = rows_of(RunRow, table_of(RunRow, [row]))
    assert back.outcome is Outcome.VOID and back.cause is None and back.started_at == now


@pytest.mark.parametrize(
    "change",
    [
        {"task": "other"}, {"task_digest": "other"}, {"profile": "full"}, {"instance": 1}, {"seed": 1},
        {"budget": Budget(steps=10)}, {"gpus": 1.0}, {"samples": 2},
        {"spec": dataclasses.replace(SPEC, digest="edited")}, {"spec": dataclasses.replace(SPEC, model="other")},
        {"spec": dataclasses.replace(SPEC, params='{"temperature":1.0}')},
    ],
)  # fmt: skip
def test_another_request_is_another_run(change: dict) -> None:
    assert dataclasses.replace(RUN, **change).run_id != RUN.run_id


def test_a_label_is_only_a_name() -> None:
    assert dataclasses.replace(RUN, spec=dataclasses.replace(SPEC, label="mine")).run_id == RUN.run_id


def test_a_verdict_without_checks_is_no_pass() -> None:
    assert not Verdict(()).passed
    assert Verdict(()).score == 0.0


def test_the_hard_stop_is_three_times_the_working_time() -> None:
    assert Budget(minutes=10).wall_seconds == 1800
    assert Budget(minutes=10, wall_minutes=12).wall_seconds == 720
