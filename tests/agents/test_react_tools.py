"""ReAct's tools in a real sandbox, and its conversation and text protocol by themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mldevbench import plugin
from mldevbench.catalog import home
from mldevbench.model.reply import Reply
from mldevbench.records import Usage
from mldevbench.sandbox.opening import opaque_folder, open_sandbox
from mldevbench.sandbox.protocol import SandboxSpec

REACT = home() / "agents" / "react"
tools = plugin.load(REACT / "tools.py")
memory = plugin.load(REACT / "memory.py")
text_protocol = plugin.load(REACT / "text_protocol.py")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return opaque_folder(tmp_path)


@pytest.fixture
def box(workspace: Path) -> Iterator[Any]:
    sandbox = open_sandbox(SandboxSpec(workspace), "bubblewrap")
    try:
        yield tools.Toolbox(sandbox, 20.0, 1000)
    finally:
        sandbox.close()


def act(box: Any, name: str, **arguments: Any) -> Any:
    return box.act(name, json.dumps(arguments))


def test_shell(box: Any) -> None:
    done = act(box, "shell", command="echo out; echo err >&2; exit 3")
    assert (done.exit_code, done.text) == (3, "out\nerr\n\n[exit code 3]")


def test_long_output_is_shown_in_part_and_kept_whole(box: Any) -> None:
    done = act(box, "shell", command="seq 10000")
    assert done.text.startswith("1\n2\n") and "9999\n10000" in done.text and len(done.text) < 1200
    assert ".output/0001.txt" in done.text
    assert act(box, "shell", command="wc -l < .output/0001.txt").text.startswith("10000")


def test_a_slow_command_is_stopped_with_what_it_said(workspace: Path) -> None:
    sandbox = open_sandbox(SandboxSpec(workspace), "bubblewrap")
    try:
        done = act(tools.Toolbox(sandbox, 1.0, 1000), "shell", command="echo begun; sleep 600")
    finally:
        sandbox.close()
    assert done.exit_code is None and "begun" in done.text and "stopped after 1 s" in done.text


def test_spawn_then_sleep_and_look(box: Any) -> None:
    begun = act(box, "spawn", command="echo first; sleep 1; echo last; exit 4")
    assert "job 1" in begun.text and begun.exit_code is None
    look = "until test -e .output/job1.exit; do sleep 0.1; done; cat .output/job1.log .output/job1.exit"
    done = act(box, "sleep_and_execute", seconds=0.2, command=look)
    assert done.text.startswith("first\nlast\n4\n") and done.seconds >= 0.2


def test_files(box: Any) -> None:
    assert act(box, "create_file", path="a/b/train.py", content="x = 1\ny = 'ü'\n").exit_code == 0
    assert "a/b/train.py" in act(box, "list_files", path=".").text
    assert act(box, "edit_file", path="a/b/train.py", old="x = 1", new="x = 2").exit_code == 0
    assert act(box, "shell", command="cat a/b/train.py").text.startswith("x = 2\ny = 'ü'\n")
    assert "occurs 0 times" in act(box, "edit_file", path="a/b/train.py", old="z", new="").text
    assert "occurs 2 times" in act(box, "edit_file", path="a/b/train.py", old=" = ", new="").text
    assert act(box, "edit_file", path="absent", old="z", new="").exit_code == 1
    act(box, "shell", command="head -c 100 /dev/urandom > noise")
    assert "no text file" in act(box, "edit_file", path="noise", old="z", new="").text
    assert act(box, "create_file", path="/etc/passwd", content="x").exit_code != 0


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("shel", "{}", "there is no tool"),
        ("shell", "{", "not JSON"),
        ("shell", "[]", "takes command"),
        ("shell", '{"command": "ls", "more": 1}', "takes command"),
        ("shell", '{"command": 3}', "must be a string"),
        ("shell", '{"command": "a\\u0000b"}', "zero byte"),
        ("create_file", '{"path": "a", "content": "\\ud83d"}', "half a character"),
        ("sleep_and_execute", '{"seconds": true, "command": "ls"}', "must be a number"),
        ("sleep_and_execute", '{"seconds": 1e9, "command": "ls"}', "between 0 and"),
    ],
)
def test_wrong_calls_come_back_as_text(box: Any, name: str, arguments: str, words: str) -> None:
    done = box.act(name, arguments)
    assert words in done.text and done.text.startswith("error: ") and done.exit_code is None


def conversation(window: int | None, turns: int) -> Any:
    talk = memory.Conversation([{"role": "user", "content": "the task"}], window)
    for number in range(turns):
        talk.add([{"role": "assistant", "content": f"turn {number}", "tool_calls": []}], answered=Usage())
        talk.add([{"role": "tool", "tool_call_id": "c", "content": f"{number} " + "x" * 3000}])
    return talk


def test_a_conversation_that_fits_is_left_alone() -> None:
    talk = conversation(None, 30)
    talk.fit()
    assert len(talk.messages) == 61 and "left out" not in str(talk.messages)


def test_old_results_go_first_then_old_turns() -> None:
    talk = conversation(12_000, 12)
    talk.fit()
    contents = [message["content"] for message in talk.messages]
    assert contents[0] == "the task" and "left out" in contents[2] and "left out" not in contents[-1]
    assert len(contents) == 25
    small = conversation(5_000, 40)
    small.fit()
    contents = [message["content"] for message in small.messages]
    assert contents[0] == "the task" and contents[1] != "turn 0" and len(contents) >= 1 + 2 * 4
    assert all(message["role"] == "assistant" for message in small.messages[1::2])


def test_halving_ends_when_nothing_can_go() -> None:
    talk = conversation(None, 12)
    sizes = [len(str(talk.messages))]
    while talk.halve():
        sizes.append(len(str(talk.messages)))
    assert sizes == sorted(sizes, reverse=True) and len(sizes) > 1
    assert len(talk.messages) == 1 + 2 * 4


def reply(text: str) -> Reply:
    return Reply(3, text, (), None, "stop", Usage(), {"role": "assistant", "content": text})


def test_text_protocol() -> None:
    speaker = text_protocol.TextProtocol(tools.DEFINITIONS)
    (opening,) = speaker.opening("Do it.")
    assert opening["content"].startswith("Do it.") and "sleep_and_execute" in opening["content"]
    meant = '```tool\n{"tool": "shell", "arguments": {"command": "ls"}}\n```'
    text = '<think>```tool\n{"tool": "no"}\n```</think>Now:\n' + meant
    (call,) = speaker.calls(reply(text))
    assert (call.name, json.loads(call.arguments)) == ("shell", {"command": "ls"})
    assert speaker.calls(reply('all done\n```json\n{"accuracy": 0.9}\n```')) == []
    (broken,) = speaker.calls(reply('```tool\n{"tool": "shell", arguments}\n```'))
    assert broken.name == "?"
    assert speaker.results([(call, "a.txt")]) == [{"role": "user", "content": "Result of shell:\na.txt"}]
