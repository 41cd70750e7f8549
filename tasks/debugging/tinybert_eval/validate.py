# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the script on other checkpoints and questions; compare each answer with the checkpoint's, computed outside."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import load_file, save

from mldevbench.checks import Room, at_most, equal, metric, number, require
from mldevbench.draw import Draw
from mldevbench.material.questions import Example, draw_examples, to_lines
from mldevbench.material.tiny_bert import drawn_checkpoint, margins
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HERE = Path(__file__).parent
GIVEN, SCRIPT = HERE / "workspace", "evaluate.py"
CASES = {"other checkpoint": (56, 65), "short inputs, labels at random": (40, 47)}


class Case(NamedTuple):
    """One run of the script, and the answers that it must give."""

    files: dict[str, bytes | Path]
    answers: list[bool]
    labels: list[bool]


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(SCRIPT, submission.has(SCRIPT), f"a file {SCRIPT}", "none")
    for name, lengths in CASES.items():
        case = _case(draw.rng(f"held-out {name}"), lengths, "random" in name, profile)
        with Room(submission, files=[SCRIPT], add=case.files) as room:
            made = room.call(HERE / "hidden" / "probe.py", {}, seconds=profile["seconds"])
        yield from _judge(name, case, made)


def _case(rng: np.random.Generator, lengths: tuple[int, int], random_labels: bool, profile: Mapping[str, Any]) -> Case:
    place = GIVEN / "checkpoint"
    words = (place / "vocab.txt").read_text(encoding="utf-8").split()
    weights, words = drawn_checkpoint(rng, load_file(place / "model.safetensors"), words, profile["spread"])
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    config["max_length"] = int(rng.integers(*lengths))
    # Never near a multiple of a usual batch size: a mean over unequal batches must show.
    examples = draw_examples(rng, profile["held_out"] // 64 * 64 + int(rng.integers(3, 8)))
    if random_labels:
        examples = [one._replace(label=bool(rng.integers(2))) for one in examples]
    answers = [bool(margin > 0) for margin in margins(weights, words, config, examples)]
    return Case(_files(weights, words, config, examples), answers, [one.label for one in examples])


def _files(
    weights: dict[str, np.ndarray], words: list[str], config: Mapping[str, Any], examples: list[Example]
) -> dict[str, bytes | Path]:
    return {
        "tiny_bert.py": GIVEN / "tiny_bert.py",
        "utils.py": GIVEN / "utils.py",
        "other/model.safetensors": save(weights),
        "other/vocab.txt": "\n".join([*words, ""]).encode(),
        "other/config.json": json.dumps(config).encode(),
        "questions.jsonl": to_lines(examples),
    }


def _judge(name: str, case: Case, made: Mapping[str, Any]) -> Iterator[Check | Metric]:
    told, seen = made.get("metrics"), made.get("predictions")
    fits = isinstance(seen, list) and len(seen) == len(case.answers) and all(type(one) is bool for one in seen)
    yield require(f"answers, {name}", fits, f"a list of {len(case.answers)} times true or false", str(seen)[:100])
    wrong = sum(one is not right for one, right in zip(seen or [], case.answers, strict=True))
    yield at_most(f"answers that are not the checkpoint's, {name}", wrong, 1)
    yield require(f"metrics, {name}", isinstance(told, dict), "an object", type(told).__name__)
    accuracy = number(told.get("final_val_accuracy") if told else None, "final_val_accuracy", 0, 100)
    found = 100 * sum(one is label for one, label in zip(seen or [], case.labels, strict=True)) / len(case.labels)
    yield at_most(f"error of final_val_accuracy, {name}", abs(accuracy - found), 0.005)
    yield equal(f"examples, {name}", told.get("examples") if told else None, len(case.labels))
    yield metric(f"answers right, {name}", (len(case.answers) - wrong) / len(case.answers))
