# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""How the shipped checkpoint was made: the given train.py's recipe, on examples that are encoded once.

Run with the harness's Python. Every instance perturbs the result a little and renumbers its vocabulary.
"""

from __future__ import annotations

import json
import logging
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch.nn import functional

from mldevbench.material.questions import WORDS, draw_examples

WORKSPACE = Path(__file__).parent.parent / "workspace"
EXAMPLES, EPOCHS, BATCH, RATE = 4000, 30, 50, 2e-3


def main() -> None:
    sys.path.insert(0, str(WORKSPACE))
    made, given_train, given_utils = (import_module(name) for name in ("tiny_bert", "train", "utils"))

    torch.manual_seed(0)
    torch.set_num_threads(1)
    place = WORKSPACE / "checkpoint"
    (place / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    config = {**given_train.CONFIG, "vocab_size": len(WORDS)}
    (place / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    drawn = draw_examples(np.random.default_rng(7), EXAMPLES + 1000)
    given = given_utils.Tokenizer(place).batch([example._asdict() for example in drawn], config["max_length"])
    model = made.TinyBert(config)
    with torch.no_grad():  # rather the segment than the place tells a question's words
        model.positions.weight.mul_(0.02)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, EPOCHS * (EXAMPLES // BATCH), pct_start=0.1)
    for epoch in range(EPOCHS):
        for batch in torch.randperm(EXAMPLES).split(BATCH):
            functional.cross_entropy(scores(model, given, batch), given["labels"][batch]).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
        model.eval()
        kept = torch.arange(EXAMPLES, EXAMPLES + 1000)
        with torch.no_grad():
            right = (scores(model, given, kept).argmax(1) == given["labels"][kept]).float().mean()
        model.train()
        logging.info("epoch %d: accuracy %.3f", epoch, right)
        save_file(model.state_dict(), place / "model.safetensors")
        if right > 0.88:  # a better model would leave too little to see
            break


def scores(model: Any, given: dict[str, torch.Tensor], places: torch.Tensor) -> torch.Tensor:
    """Return the scores of some examples, without the columns that none of them uses."""
    longest = int(given["attention_mask"][places].sum(dim=1).max())
    inputs = {name: value[places, :longest] for name, value in given.items() if name != "labels"}
    return model(**inputs)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
