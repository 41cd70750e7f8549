from __future__ import annotations

import pytest

from mldevbench.errors import UserError
from mldevbench.model.player import Player, answer_of
from mldevbench.model.replay import script_of
from mldevbench.model.script import Turn, parse_script
from mldevbench.records import Step, Usage

TEXT = """
turns:
  - text: look
    calls: [{shell: {command: ls}}, {shell: "{broken"}]
    usage: {prompt: 10, completion: 3, cached: 2, reasoning: 1}
  - text: bye
scenes:
  - match: blue
    turns: [{text: sky}]
    then: repeat
"""


def ask(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_turns_are_played_in_order_and_then_nothing() -> None:
    player = Player(parse_script(TEXT, "t"))
    assert [player.next_turn(ask("red")).text for _ in range(3)] == ["look", "bye", ""]


def test_the_first_scene_that_matches_is_played() -> None:
    player = Player(parse_script(TEXT, "t"))
    assert [player.next_turn(ask("blue")).text for _ in range(2)] == ["sky", "sky"]


def test_a_turn_as_an_answer() -> None:
    turn = parse_script(TEXT, "t").turns[0]
    answer = answer_of(turn, ask("red"), "m")
    message = answer["choices"][0]["message"]
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"command": "ls"}', "{broken"]
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    assert answer["usage"]["prompt_tokens"] == 10
    assert answer["usage"]["completion_tokens_details"] == {"reasoning_tokens": 1}


@pytest.mark.parametrize(
    "text", ["turns: [", "turns: [{calls: [{a: 1, b: 2}]}]", "turns: [{error: {status: 200}}]", "turn: []"]
)
def test_mistakes_are_named(text: str) -> None:
    with pytest.raises(UserError, match="script where"):
        parse_script(text, "where")


def test_a_recorded_trajectory_becomes_a_script() -> None:
    about = '{"calls":[{"name":"shell","arguments":"{\\"command\\": \\"ls\\"}"}],"finish":"tool_calls"}'
    steps = [
        Step("model", "look", arguments=about, usage=Usage(prompt_tokens=9, completion_tokens=2), reasoning="hm"),
        Step("tool", "a.txt", tool="shell"),
        Step("model", "bye", arguments="{}", usage=Usage(prompt_tokens=12, completion_tokens=1)),
    ]
    script = parse_script(script_of(steps), "replay")
    assert [turn.text for turn in script.turns] == ["look", "bye"]
    assert script.turns[0].tool_calls() == [("shell", '{"command": "ls"}')]
    assert script.turns[0].reasoning == "hm"
    assert script.turns[1].usage.prompt == 12
    assert Player(script).next_turn(ask("x")) == Turn.model_validate(script.turns[0].model_dump())
