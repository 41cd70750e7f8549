# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare the submitted model with a reference for sizes, weights, pictures and channels drawn after submission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import Room, check, close, equal, require
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

FOLDER = Path(__file__).parent
HIDDEN = FOLDER / "hidden"
GIVEN = FOLDER / "workspace" / "vit.py"
MODULE = "channel_vit.py"
CALLS = ["all channels", "all by index", "all in mixed order", "a subset", "another subset", "one channel"]


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(MODULE, submission.has(MODULE), f"a file {MODULE}", "none")
    reference, vit = plugin.load(HIDDEN / "reference.py"), plugin.load(GIVEN)
    rng = draw.rng("held-out cases")
    cases = [_sizes(rng, profile) for _ in range(profile["cases"])]
    inputs: dict[str, Any] = {"cases": cases, "calls": CALLS, "seed": int(rng.integers(1 << 30))}
    for number, sizes in enumerate(cases):
        count = sum(int(np.prod(shape)) for shape in reference.shapes(vit, sizes).values())
        inputs[f"weights {number}"] = rng.normal(0.05, 0.3, count).astype(np.float32)
        for name in CALLS:
            _draw_call(inputs, rng, sizes, name, f"{name}, model {number}")
    with Room(submission, files=[MODULE], add={"vit.py": GIVEN}) as room:
        answers = room.call(HIDDEN / "probe.py", inputs, seconds=profile["seconds"])
    dropped = []
    for number, sizes in enumerate(cases):
        yield equal(f"parameters, model {number}", answers.get(f"shapes {number}"), reference.shapes(vit, sizes))
        for name in CALLS:
            key = f"{name}, model {number}"
            given = (inputs[f"{kind}, {key}"] for kind in ("images", "indices", "pull"))
            right = reference.answers(vit, sizes, inputs[f"weights {number}"], *given)
            yield from _compare(right, answers, key, profile["tolerance"])
            dropped.append(_dropped(right["prepared"], answers.get(f"dropped, {key}"), key, profile["tolerance"]))
    yield from _shares(dropped)


def _sizes(rng: np.random.Generator, profile: Mapping[str, Any]) -> dict[str, int]:
    heads, patch = int(rng.integers(2, 5)), int(rng.integers(2, 6))
    return {
        "image_size": patch * int(rng.integers(2, 5)),
        "patch_size": patch,
        "channels": int(rng.integers(3, 8)),
        "width": heads * int(rng.integers(*profile["widths"])),
        "depth": profile["depth"],
        "heads": heads,
    }


def _draw_call(inputs: dict[str, Any], rng: np.random.Generator, sizes: Mapping[str, int], name: str, key: str) -> None:
    channels, side = sizes["channels"], sizes["image_size"]
    batch = int(rng.integers(2, 5))
    given = {"one channel": 1, "a subset": 2, "another subset": channels - 1}.get(name, channels)
    indices = np.stack([rng.permutation(channels)[:given] for _ in range(batch)])
    while given < channels and (indices == indices[0]).all():
        indices[-1] = rng.permutation(channels)[:given]
    if name in ("all channels", "all by index"):
        indices = np.tile(np.arange(channels), (batch, 1))
    tokens = 1 + given * (side // sizes["patch_size"]) ** 2
    inputs[f"indices, {key}"] = indices.astype(np.int64)
    inputs[f"images, {key}"] = rng.normal(size=(batch, given, side, side)).astype(np.float32)
    inputs[f"pull, {key}"] = rng.normal(size=(batch, tokens, sizes["width"])).astype(np.float32)


def _compare(
    right: Mapping[str, np.ndarray], answers: Mapping[str, Any], key: str, tolerance: float
) -> Iterator[Check]:
    for kind, value in right.items():
        seen: Any = answers.get(f"{kind}, {key}")
        yield require(f"{kind}, {key}", isinstance(seen, np.ndarray), "an array", type(seen).__name__)
        scale = max(float(np.abs(value).max()), 1e-6)
        yield close(f"{kind}, {key}", seen / scale, value / scale, tolerance=tolerance)


def _dropped(prepared: np.ndarray, seen: Any, key: str, tolerance: float) -> np.ndarray:
    """Return which values were dropped; the others must be doubled."""
    fits = isinstance(seen, np.ndarray) and seen.shape == prepared.shape and seen.dtype.kind == "f"
    require(f"dropout, {key}", fits, "tokens of the right shape", type(seen).__name__)
    gone = seen == 0
    wrong = ~gone & ~(np.abs(seen - 2 * prepared) <= 2 * tolerance * np.abs(prepared).max())
    require(
        f"dropout, {key}", not wrong.any(), "values zero or twice the right ones", f"{int(wrong.sum())} are neither"
    )
    return gone


def _shares(dropped: list[np.ndarray]) -> Iterator[Check]:
    """Judge the shares over all calls together: in a single one chance could be against it."""
    every = np.concatenate([gone.ravel() for gone in dropped])
    first = np.concatenate([gone[:, 0].ravel() for gone in dropped])
    for name, gone, slack in (("all tokens", every, 0.1), ("class tokens", first, 0.2)):
        share = float(gone.mean())
        promise = f"{0.5 - slack:.0%} to {0.5 + slack:.0%} of the values dropped"
        yield check(f"dropout of {name}", abs(share - 0.5) <= slack, promise, f"{share:.0%}")
