"""Multi-head latent attention: drawn sizes and weights, the right answers, and how an implementation is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mldevbench.checks import Room, close, equal, require
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

MODULE = "mla.py"
Arrays = dict[str, np.ndarray]


class Sizes(NamedTuple):
    """The constructor's arguments, by name."""

    width: int
    heads: int
    query_latent: int
    latent: int
    content: int
    rotary: int
    value: int


def draw_sizes(rng: np.random.Generator) -> Sizes:
    """Draw sizes of which no two that could be mistaken for each other are equal."""
    heads, rotary = int(rng.integers(2, 5)), 2 * int(rng.integers(2, 5))
    content, value = (int(size) for size in rng.permutation([3, 5, 7, 9, 11])[:2])
    query_latent, latent = (int(size) for size in rng.permutation(np.arange(12, 30))[:2])
    return Sizes(int(rng.integers(30, 48)), heads, query_latent, latent, content, rotary, value)


def judge(
    submission: Submission, draw: Draw, profile: Mapping[str, Any], hidden: Path, given: Path
) -> Iterator[Check | Metric]:
    """Compare the submitted module with the reference for drawn sizes, weights, inputs and caches."""
    yield require(MODULE, submission.has(MODULE), f"a file {MODULE}", "none")
    cases = [draw_sizes(draw.rng(f"held-out sizes {number}")) for number in range(profile["cases"])]
    inputs: dict[str, Any] = {"cases": [sizes._asdict() for sizes in cases]}
    for number, sizes in enumerate(cases):
        drawn = _draw_case(draw.rng(f"held-out case {number}"), sizes)
        inputs |= {f"{name} {number}": value for name, value in drawn.items()}
    with Room(submission, files=[MODULE], add={"rotary.py": given / "rotary.py"}) as room:
        answers = room.call(hidden / "probe.py", inputs, seconds=profile["seconds"])
    for number, sizes in enumerate(cases):
        where = ", ".join(f"{name} {size}" for name, size in sizes._asdict().items())
        shapes = {name: list(shape) for name, shape in weight_shapes(sizes).items()}
        made = equal(f"parameters ({where})", answers.get(f"shapes {number}"), shapes)
        yield require(made.name, made.passed, made.expected, made.seen)
        case = {name.rsplit(" ", 1)[0]: value for name, value in inputs.items() if name.endswith(f" {number}")}
        for name, right in right_answers(sizes, case).items():
            bound = profile["tolerance"] * float(np.abs(right).max())
            yield close(f"{name} ({where})", answers.get(f"{name} {number}"), right, tolerance=bound)


def weight_shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    heads = sizes.heads
    return {
        "latent_down.weight": (sizes.latent + sizes.rotary, sizes.width),
        "latent_norm.bias": (sizes.latent,),
        "latent_norm.weight": (sizes.latent,),
        "latent_up.weight": (heads * (sizes.content + sizes.value), sizes.latent),
        "output.weight": (sizes.width, heads * sizes.value),
        "query_down.weight": (sizes.query_latent, sizes.width),
        "query_norm.bias": (sizes.query_latent,),
        "query_norm.weight": (sizes.query_latent,),
        "query_up.weight": (heads * (sizes.content + sizes.rotary), sizes.query_latent),
    }


def _draw_case(rng: np.random.Generator, sizes: Sizes) -> Arrays:
    """Draw weights large enough for attention to be far from uniform, inputs, and a cache that is nobody's past."""
    batch, length, later, past = (int(rng.integers(*bounds)) for bounds in ((2, 4), (7, 12), (2, 6), (3, 9)))
    drawn = {f"weights {name}": _weight(rng, name, shape) for name, shape in weight_shapes(sizes).items()}
    drawn["inputs"] = rng.normal(size=(batch, length, sizes.width))
    drawn["later inputs"] = rng.normal(size=(batch, later, sizes.width))
    drawn["past"] = rng.normal(size=(batch, past, sizes.latent + sizes.rotary))
    drawn["pull"] = rng.normal(size=(batch, length, sizes.width))
    return {name: value.astype(np.float32) for name, value in drawn.items()}


def _weight(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if "norm" in name:
        return rng.normal(1.0 if name.endswith("weight") else 0.0, 0.3, shape)
    return rng.normal(0, 1.4 / np.sqrt(shape[1]), shape)


def right_answers(sizes: Sizes, case: Mapping[str, np.ndarray]) -> Arrays:
    """Return outputs and caches without and with a past, and the gradients of the first."""
    import torch

    held = {
        name.removeprefix("weights "): torch.from_numpy(value.astype(np.float64)).requires_grad_()
        for name, value in case.items()
        if name.startswith("weights ")
    }
    tensors = {
        name: torch.from_numpy(value.astype(np.float64)) for name, value in case.items() if name[:7] != "weights"
    }
    inputs = tensors["inputs"].requires_grad_()
    outputs, cache = _attend(sizes, held, inputs, None)
    (outputs * tensors["pull"]).sum().backward()
    with torch.no_grad():
        later, longer = _attend(sizes, held, tensors["later inputs"], tensors["past"])
    gradients = [held[name].grad.reshape(-1) for name in sorted(held)]  # pyright: ignore[reportOptionalMemberAccess]
    found = {"outputs": outputs, "cache": cache, "later outputs": later, "later cache": longer}
    found |= {"input gradients": inputs.grad, "weight gradients": torch.cat(gradients)}
    return {name: value.detach().numpy().astype(np.float32) for name, value in found.items()}


def _attend(sizes: Sizes, held: Mapping[str, Any], inputs: Any, past: Any) -> tuple[Any, Any]:
    import torch
    from torch.nn.functional import layer_norm

    def normed(values: Any, name: str) -> Any:
        return layer_norm(values, values.shape[-1:], held[f"{name}.weight"], held[f"{name}.bias"])

    fresh = inputs @ held["latent_down.weight"].T
    cache = fresh if past is None else torch.cat([past, fresh], dim=1)
    start, end = cache.shape[1] - inputs.shape[1], cache.shape[1]
    queries = normed(inputs @ held["query_down.weight"].T, "query_norm") @ held["query_up.weight"].T
    queries = queries.unflatten(-1, (sizes.heads, sizes.content + sizes.rotary))
    expanded = normed(cache[..., : sizes.latent], "latent_norm") @ held["latent_up.weight"].T
    expanded = expanded.unflatten(-1, (sizes.heads, sizes.content + sizes.value))
    turned = _rotate(queries[..., sizes.content :], torch.arange(start, end)[:, None])
    keys = _rotate(cache[..., sizes.latent :], torch.arange(end))
    scores = torch.einsum("bthc,bshc->bhts", queries[..., : sizes.content], expanded[..., : sizes.content])
    scores = (scores + torch.einsum("bthr,bsr->bhts", turned, keys)) / (sizes.content + sizes.rotary) ** 0.5
    future = torch.arange(end)[None, :] > torch.arange(start, end)[:, None]
    shares = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
    mixed = torch.einsum("bhts,bshv->bthv", shares, expanded[..., sizes.content :])
    return mixed.flatten(2) @ held["output.weight"].T, cache


def _rotate(values: Any, positions: Any) -> Any:
    """Turn the pairs (i, i + half) of the last axis by position times 10000 ** (-i / half)."""
    import torch

    half = values.shape[-1] // 2
    angles = positions[..., None] * 10000.0 ** (-torch.arange(half) / half).double()
    left, right = values[..., :half], values[..., half:]
    return torch.cat([left * angles.cos() - right * angles.sin(), left * angles.sin() + right * angles.cos()], dim=-1)
