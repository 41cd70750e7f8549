"""Rooms: submitted code is called with inputs and hands over plain arrays, nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from judge.support import Submit, write

from mldevbench.checks import Room, Unmet, predict
from mldevbench.draw import Draw
from mldevbench.room import RoomSettings

DOUBLE = """
import model
def probe(inputs):
    return {"outputs": model.double(inputs["inputs"]), "note": "done", "count": len(inputs["inputs"])}
"""


def test_a_call_hands_over_arrays_and_plain_values(workspace: Path, submit: Submit, settings: RoomSettings) -> None:
    write(workspace, model="def double(x): return x * 2")
    with Room(submit(), files=["model.py"]) as room:
        answer = room.call(DOUBLE, {"inputs": np.arange(6, dtype=np.float32).reshape(2, 3)})
    assert answer["note"] == "done" and answer["count"] == 2
    np.testing.assert_array_equal(answer["outputs"], np.arange(6, dtype=np.float32).reshape(2, 3) * 2)
    assert answer["outputs"].dtype == np.float32


def test_a_call_leaves_nothing_for_the_next(workspace: Path, submit: Submit, settings: RoomSettings) -> None:
    lines = ["from pathlib import Path", "def double(x):", "    before = Path('mark').exists()"]
    lines += ["    Path('mark').touch()", "    return x * (7 if before else 2)"]
    write(workspace, model="\n".join(lines))
    with Room(submit(), files=["model.py"]) as room:
        for _ in range(2):
            assert room.call(DOUBLE, {"inputs": np.ones(3)})["outputs"].tolist() == [2, 2, 2]


def test_run_works_in_one_copy_and_its_leavings_are_a_submission(
    workspace: Path, submit: Submit, settings: RoomSettings
) -> None:
    write(
        workspace,
        train="from pathlib import Path\nPath('out').mkdir(exist_ok=True)\nPath('out/a.txt').write_text('1')",
        given="changed",
    )
    with Room(submit(), files=["train.py"], add={"given.py": b"pristine"}) as room:
        assert room.run(["python", "train.py"], seconds=60).exit_code == 0
        left = room.submission(["out/**", "given.py"])
        assert left.bytes("out/a.txt") == b"1" and left.bytes("given.py") == b"pristine"
        answer = room.call(
            "def probe(inputs):\n    import os\n    return {'names': sorted(os.listdir('.'))}", {}, fresh=False
        )
        assert "out" in answer["names"]


@pytest.mark.slow
def test_predictions_come_back_in_order(workspace: Path, submit: Submit, settings: RoomSettings) -> None:
    write(workspace, model="def double(x): return x * 2")
    inputs = np.arange(40, dtype=np.float32)
    with Room(submit(), files=["model.py"]) as room:
        made = predict(room, DOUBLE, inputs, draw=Draw(b"k"), seconds=60)
    np.testing.assert_array_equal(made, inputs * 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    ["return x + __import__('numpy').arange(len(x))", "return x * len(x)", "return x * __import__('random').random()"],
)
def test_predictions_that_depend_on_their_batch_are_refused(
    code: str, workspace: Path, submit: Submit, settings: RoomSettings
) -> None:
    write(workspace, model=f"def double(x): {code}")
    with Room(submit(), files=["model.py"]) as room, pytest.raises(Unmet, match="own input alone"):
        predict(room, DOUBLE, np.ones(60, np.float32), draw=Draw(b"k"), seconds=60)


@pytest.mark.slow
def test_weights_cross_as_arrays(workspace: Path, submit: Submit, settings: RoomSettings) -> None:
    torch = pytest.importorskip("torch")
    state = {"a": torch.ones(2, 3), "b": torch.arange(4), "half": torch.ones(2, dtype=torch.bfloat16)}
    torch.save({"model_state_dict": state, "epoch": 3}, workspace / "m.pt")
    with Room(submit(), files=["m.pt"]) as room:
        arrays = room.load_weights("m.pt")
    assert {name: array.shape for name, array in arrays.items()} == {"a": (2, 3), "b": (4,), "half": (2,)}
    assert arrays["b"].dtype == np.int64 and arrays["half"].dtype == np.float32
