"""Checkpoints as an attacker saves them; they are opened inside a room, and judged outside."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from judge.hostile.documents import Bomb

from mldevbench.checks import all_finite, close, require

SHAPES = {"weight": (3, 2), "bias": (3,)}


class Checkpoint(NamedTuple):
    name: str
    write: Callable[[Path], object]
    refusal: str


def demand(arrays: Mapping[str, np.ndarray]) -> None:
    """Demand what a validator would: the right names and shapes, and finite weights."""
    seen = {name: array.shape for name, array in arrays.items()}
    require("tensors", seen == SHAPES, str(SHAPES), str(seen))
    finite = all_finite("weights", arrays)
    require(finite.name, finite.passed, finite.expected, finite.seen)
    made = close("weights", arrays["bias"], np.zeros(3, np.float32), tolerance=1e-6)
    require(made.name, made.passed, made.expected, made.seen)


def saved(value: Callable[[], Any]) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        import torch

        torch.save(value(), path)

    return write


def state(**changed: Any) -> dict[str, Any]:
    import torch

    return {name: torch.zeros(shape) for name, shape in SHAPES.items()} | changed


def zeros(*shape: int) -> Any:
    import torch

    return torch.zeros(shape)


def stretched(path: Path) -> None:
    """Save a terabyte that is one number, repeated by its strides."""
    import torch

    torch.save(state(weight=torch.zeros(1).expand(1 << 19, 1 << 19)), path)


def pickle_only(path: Path) -> None:
    path.write_bytes(pickle.dumps(Bomb()))


def zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\0" * (1 << 28))
        archive.writestr("archive/version", b"3\n")


def nested(path: Path) -> None:
    path.write_bytes(b"\x80\x02" + b"]" * 200_000 + b"." * 10)


TABLE = [
    Checkpoint("runs a command", saved(lambda: {"model_state_dict": Bomb()}), "weights_only|Unsupported"),
    Checkpoint("runs a command without torch", pickle_only, "weights_only|Unsupported|Weights only"),
    Checkpoint("a command beside the weights", saved(lambda: state(extra=Bomb())), "weights_only|Unsupported"),
    Checkpoint("a whole module", saved(lambda: __import__("torch").nn.Linear(2, 3)), "weights_only|Unsupported"),
    Checkpoint("not a checkpoint", lambda p: p.write_bytes(b"PK\x03\x04garbage"), "calling the submitted code"),
    Checkpoint("empty", lambda p: p.touch(), "EOFError|calling the submitted code"),
    Checkpoint("missing", lambda p: p.with_name("other.pt").touch(), "no file model.pt"),
    Checkpoint("compressed nothing", zip_bomb, "calling the submitted code"),
    Checkpoint("lists in lists", nested, "calling the submitted code"),
    Checkpoint("a list", saved(lambda: [1, 2]), "not a state dict"),
    Checkpoint("numbers for tensors", saved(lambda: state(bias=0.0)), "hold no tensor"),
    Checkpoint("no tensors", saved(dict), "no tensors"),
    Checkpoint("a terabyte by strides", stretched, "larger than"),
    Checkpoint("wrong shapes", saved(lambda: state(weight=zeros(2, 3))), "tensors: expected"),
    Checkpoint("a tensor too many", saved(lambda: state(answers=zeros(9))), "tensors: expected"),
    Checkpoint("NaN weights", saved(lambda: state(weight=zeros(3, 2) * float("nan"))), "NaN or infinity in weight"),
    Checkpoint("infinite weights", saved(lambda: state(bias=zeros(3) + float("inf"))), "NaN or infinity in bias"),
    Checkpoint("complex weights", saved(lambda: state(bias=zeros(3).to(__import__("torch").complex64))), "handed over"),
    Checkpoint("other weights", saved(lambda: state(bias=zeros(3) + 1)), "values are not"),
]
