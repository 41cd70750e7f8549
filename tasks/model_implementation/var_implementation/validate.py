# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare the submitted model with a reference for sizes, weights, labels and tokens drawn after submission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import Room, at_most, check, close, equal, require
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

FOLDER = Path(__file__).parent
HIDDEN = FOLDER / "hidden"
GIVEN = {name: FOLDER / "workspace" / name for name in ("blocks.py", "quantizer.py")}
MODULE = "var.py"
WRONG = [[0, None], [-1, None], [100, 0], [100, 100], [100, -1]]  # label above the classes, stages; 100: see the probe
TOP_K = 3
GUIDANCE = 2.0  # of what is drawn many times
MOST_ERRORS = 6.0  # standard errors; a right answer goes beyond once in 500 million
OTHERWISE = (lambda stage, stages: (stage + 1) / stages, lambda stage, stages: 1.0, lambda stage, stages: 0.0)
NARROW = 2e-3  # decisions nearer than this may fall either way in single precision


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(MODULE, submission.has(MODULE), f"a file {MODULE}", "none")
    parts = [plugin.load(path) for path in GIVEN.values()]
    reference = plugin.load(HIDDEN / "reference.py")
    rng = draw.rng("held-out cases")
    guidances = [0.0, *(float(value) for value in rng.uniform(1, 4, 2))]
    inputs: dict[str, Any] = {"cases": [], "guidances": guidances, "wrong": WRONG, "top_k": TOP_K}
    inputs["guidance"] = GUIDANCE
    inputs |= {"seed": int(rng.integers(1 << 30)), "draws": profile["draws"]}
    models = [_draw_case(reference, parts, rng, inputs, number) for number in range(profile["cases"])]
    with Room(submission, files=[MODULE], add=GIVEN) as room:
        answers = room.call(HIDDEN / "probe.py", inputs, seconds=profile["seconds"])
    for number, model in enumerate(models):
        yield from _judge(model, number, inputs, answers, profile)


def _draw_case(reference: Any, parts: list[Any], rng: np.random.Generator, inputs: dict[str, Any], number: int) -> Any:
    """Draw a model whose likeliest codes are beyond doubt and tell how guidance grows, with labels and tokens."""
    while True:
        sizes = _sizes(rng)
        model = reference.Model(*parts, sizes)
        count = sum(value.numel() for value in model.parameters())
        weights = rng.normal(0, 0.25, count).astype(np.float32)
        model.fill(weights)
        labels = rng.integers(0, sizes["classes"], 3)
        right = [model.likeliest(labels, guidance) for guidance in inputs["guidances"]]
        if all(gap > NARROW for _, gap in right) and _telling(model, labels, inputs["guidances"], right):
            break
    total = sum(model.counts)
    inputs["cases"].append(sizes)
    inputs[f"weights {number}"], inputs[f"labels {number}"] = weights, labels
    tokens = rng.normal(size=(3, total - model.counts[0], sizes["code_width"]))
    inputs[f"tokens {number}"] = tokens.astype(np.float32)
    inputs[f"pulls {number}"] = rng.normal(size=(3, total, sizes["codes"])).astype(np.float32)
    return model


def _telling(model: Any, labels: np.ndarray, guidances: list[float], right: list[Any]) -> bool:
    """Whether every other way in which guidance might grow gives other codes, and not at one place only."""
    for rising in OTHERWISE:
        made = (model.likeliest(labels, guidance, rising)[0]["codes"] for guidance in guidances)
        if sum((codes != one["codes"]).sum() for codes, (one, _) in zip(made, right, strict=True)) < 2:
            return False
    return True


def _sizes(rng: np.random.Generator) -> dict[str, Any]:
    heads = int(rng.integers(2, 4))
    return {
        "scales": [[1, 2, 3], [1, 2, 4], [2, 3], [1, 3, 4]][int(rng.integers(4))],
        "classes": int(rng.integers(3, 8)),
        "codes": int(rng.integers(7, 12)),
        "code_width": int(rng.integers(4, 7)),
        "width": heads * int(rng.integers(6, 9)),
        "depth": 2,
        "heads": heads,
    }


def _judge(
    model: Any, number: int, inputs: Mapping[str, Any], answers: Mapping[str, Any], profile: Mapping[str, Any]
) -> Iterator[Check]:
    seen = {key.removesuffix(f" {number}"): value for key, value in answers.items() if key.endswith(f" {number}")}
    shapes = {name: list(value.shape) for name, value in sorted(model.named_parameters())}
    yield equal(f"parameters, model {number}", seen.get("shapes"), shapes)
    labels, tokens = inputs[f"labels {number}"], inputs[f"tokens {number}"]
    everything, nothing = len(model.counts), np.full_like(labels, model.classes)
    asked = {f"evaluated {stages}": (labels, stages) for stages in range(1, everything + 1)}
    asked |= {"evaluated all": (labels, everything), "trained 0": (labels, everything)}
    asked |= {"trained 1": (nothing, everything), "after sampling": (labels, everything)}
    for name, (rows, stages) in asked.items():
        pull = inputs[f"pulls {number}"][:, : sum(model.counts[:stages])]
        for kind, right in model.answers(rows, tokens, stages, pull).items():
            yield _near(f"{kind} {name}, model {number}", seen.get(f"{kind} {name}"), right, profile["tolerance"])
    for step, guidance in enumerate(inputs["guidances"]):
        right, _ = model.likeliest(labels, guidance)
        for again in (0, 1):
            what = f"guidance {guidance:.2g}, time {again}, model {number}"
            yield equal(f"codes, {what}", seen.get(f"codes {step} {again}"), right["codes"], show_expected=False)
            pictures = seen.get(f"pictures {step} {again}")
            yield _near(f"pictures, {what}", pictures, right["pictures"], profile["tolerance"])
    yield equal(f"wrong labels and stages, model {number}", seen.get("refused"), ["IndexError"] * len(WRONG))
    yield equal(f"sampling no class, model {number}", seen.get("refused to sample"), "IndexError")
    first, blind = (_first_logits(model, rows, tokens) for rows in (labels, nothing))
    yield from _judge_dropout(first, blind, seen.get("half dropped"), number, profile["tolerance"])
    yield from _judge_draws(first, seen, number, profile)
    for name, top_k in (("all", 0), ("few", TOP_K)):
        yield _judge_later(model, labels[:1], seen[f"drawn {name}"], top_k, f"({name}), model {number}")


def _first_logits(model: Any, rows: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    shape = (len(rows), model.counts[0], model.head.out_features)
    return model.answers(rows, tokens, 1, np.zeros(shape))["logits"][0, 0]


def _near(name: str, seen: Any, right: np.ndarray, tolerance: float) -> Check:
    scale = max(float(np.abs(right).max(initial=0)), 1e-6)
    return close(name, seen / scale if isinstance(seen, np.ndarray) else seen, right / scale, tolerance=tolerance)


def _judge_dropout(first: np.ndarray, blind: np.ndarray, seen: Any, number: int, tolerance: float) -> Iterator[Check]:
    name = f"label dropout one half, model {number}"
    fits = isinstance(seen, np.ndarray) and seen.shape == (400, len(first)) and seen.dtype.kind == "f"
    yield require(name, fits, "logits of 400 samples", "others")
    slack = tolerance * max(np.abs(first).max(), np.abs(blind).max())
    kept, gone = (np.all(np.abs(seen - right) <= slack, axis=1) for right in (first, blind))
    share = float(gone.mean())
    held = bool(np.logical_or(kept, gone).all()) and 0.35 <= share <= 0.65
    yield check(name, held, "the logits of the label or of no class, half each", f"{share:.0%} of no class")


def _judge_draws(
    first: np.ndarray, seen: Mapping[str, Any], number: int, profile: Mapping[str, Any]
) -> Iterator[Check]:
    order = np.argsort(-first)
    for name, kept in (("all", order), ("few", order[:TOP_K])):
        drawn: Any = seen.get(f"drawn {name}")
        fits = isinstance(drawn, np.ndarray) and drawn.ndim == 2 and len(drawn) == profile["draws"]
        fits = fits and drawn.dtype.kind == "i" and drawn.min() >= 0 and drawn.max() < len(first)
        yield require(f"drawn codes ({name}), model {number}", fits, f"codes of {profile['draws']} draws", "others")
        right = np.zeros(len(first))
        right[kept] = np.exp(first[kept] - first.max())
        shares = np.bincount(drawn[:, 0], minlength=len(first)) / len(drawn)
        distance = 0.5 * np.abs(shares - right / right.sum()).sum()
        yield at_most(f"distance of drawn shares ({name}), model {number}", float(distance), profile["max_distance"])
    once, again, other = (seen.get(f"drawn {name}") for name in ("once", "again", "other"))
    same = isinstance(again, np.ndarray) and isinstance(once, np.ndarray) and np.array_equal(once, again)
    yield check(f"equal generators, model {number}", bool(same), "equal codes", "equal" if same else "others")
    differs = isinstance(other, np.ndarray) and isinstance(once, np.ndarray) and not np.array_equal(once, other)
    yield check(f"other generators, model {number}", differs, "other codes", "others" if differs else "equal")


def _judge_later(model: Any, label: np.ndarray, drawn: np.ndarray, top_k: int, what: str) -> Check:
    """Compare how likely the codes of later stages were with how likely draws are."""
    name, start = f"likelihood of later codes {what}", model.counts[0]
    if drawn.shape[1] != sum(model.counts):
        return check(name, False, f"{sum(model.counts)} codes a picture", f"{drawn.shape[1]}")
    shares = model.shares(np.repeat(label, len(drawn)), drawn, GUIDANCE, top_k)[:, start:]
    seen = np.take_along_axis(shares, drawn[:, start:, None], axis=-1)[..., 0]
    expected = (shares**2).sum(axis=-1)
    spread = np.sqrt(((shares**3).sum(axis=-1) - expected**2).sum())
    errors = abs((seen - expected).sum()) / max(spread, 1e-9)
    return at_most(f"{name}, standard errors away", float(errors), MOST_ERRORS)
