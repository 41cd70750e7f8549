"""The checkpoint of this instance, its questions, and the log of a training that ended with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from mldevbench.draw import Draw
from mldevbench.material.questions import draw_examples, to_lines
from mldevbench.material.tiny_bert import drawn_checkpoint, margins

EPOCHS, STEPS = 12, 125


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    rng = draw.rng("checkpoint and questions")
    place = destination / "checkpoint"
    words = (place / "vocab.txt").read_text(encoding="utf-8").split()
    weights, words = drawn_checkpoint(rng, load_file(place / "model.safetensors"), words, profile["spread"])
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    (place / "model.safetensors").write_bytes(save(weights))
    (place / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    examples = draw_examples(rng, profile["examples"])
    (destination / "data").mkdir()
    (destination / "data" / "validation.jsonl").write_bytes(to_lines(examples))
    labels = np.asarray([example.label for example in examples])
    accuracy = 100 * float(((margins(weights, words, config, examples) > 0) == labels).mean())
    (destination / "train_logs.txt").write_text(_log(rng, accuracy), encoding="utf-8")


def _log(rng: np.random.Generator, accuracy: float) -> str:
    """Return what a training prints that reaches this accuracy in its last epoch."""
    lines = []
    for epoch in range(1, EPOCHS + 1):
        share = epoch / EPOCHS
        for step in range(0, STEPS, 5):
            loss = 0.7 - 0.45 * share**2 + rng.normal(0, 0.04)
            bar = "#" * (20 * step // STEPS)
            lines.append(
                f"epoch {epoch:2d} | step {step:3d} | {bar:<20} | loss {abs(loss):.4f} | lr {2e-3 * (1 - share):.2e}"
            )
        reached = accuracy if epoch == EPOCHS else 50 + (accuracy - 52) * share**2 + rng.normal(0, 0.8)
        lines.append(f"epoch {epoch:2d} | {rng.uniform(5, 7):.1f} s | val_accuracy {reached:.2f}")
    return "\n".join([*lines, "saved runs/latest/model.safetensors", ""])
