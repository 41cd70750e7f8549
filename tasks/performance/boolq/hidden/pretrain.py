# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""How workspace/pretrained was made: the first token learns the side of the question and of the passage, apart.

Run in this task's folder with the harness's Python. What the two together mean is left to fine-tuning.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from mldevbench.material.opinions import WORDS, draw_opinions
from mldevbench.material.questions import KINDS, Example

HERE = Path(__file__).parent.parent
CONFIG = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "hidden_dropout_prob": 0.1,
    "max_position_embeddings": 64,
    "vocab_size": len(WORDS),
    "max_length": 64,
}
STEPS, BATCH, RATE = 900, 64, 2e-3


def sides(example: Example) -> list[float]:
    second = set(KINDS[1])
    said = [word in second for word in example.passage.split() if word in {*KINDS[0], *KINDS[1]}]
    return [float(not second.isdisjoint(example.question.split())), float(2 * sum(said) > len(said))]


def main() -> None:
    sys.path.insert(0, str(HERE / "workspace"))
    from tiny_bert import TinyBert, Tokenizer

    place = HERE / "workspace" / "pretrained"
    (place / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    (place / "config.json").write_text(json.dumps(CONFIG, indent=2), encoding="utf-8")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng, tokenizer, model = np.random.default_rng(3), Tokenizer(place, CONFIG["max_length"]), TinyBert(CONFIG)
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, 0, 0.05 if isinstance(module, nn.Linear) else 0.1)
    heads = nn.Linear(CONFIG["hidden_size"], 2)
    optimizer = torch.optim.AdamW([*model.parameters(), *heads.parameters()], lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, STEPS)
    for _ in range(STEPS):
        some = draw_opinions(rng, BATCH)
        states = model.first_state(*tokenizer.batch([(one.question, one.passage) for one in some]))
        loss = functional.binary_cross_entropy_with_logits(heads(states), torch.tensor([sides(one) for one in some]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    save_file(model.state_dict(), place / "model.safetensors")


if __name__ == "__main__":
    main()
