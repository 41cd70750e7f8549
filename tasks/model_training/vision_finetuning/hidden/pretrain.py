# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""How the shipped vision transformer was made: on ten shapes, none of which is among those of the task.

Run from this task's folder with the harness's Python; then put the file's SHA-256 into mldevbench.material.tiny_vit.
"""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch.nn import functional

from mldevbench import plugin
from mldevbench.material.tiny_vit import CONFIG, FILE, forward, shapes

SIBLING = Path(__file__).parents[2] / "cifar10_training" / "hidden" / "other_shapes.py"
EPOCHS, BATCH, PICTURES = 12, 64, 4000


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    weights = {name: _start(name, size).requires_grad_() for name, size in shapes(CONFIG, 10).items()}
    pictures = plugin.load(SIBLING).draw_other_pictures(np.random.default_rng(32), PICTURES)
    images = torch.from_numpy(pictures.images.astype(np.float32)) / 127.5 - 1
    labels = torch.from_numpy(pictures.labels)
    optimizer = torch.optim.AdamW(weights.values(), lr=0.002, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.003, EPOCHS * (PICTURES // BATCH + 1))
    for epoch in range(EPOCHS):
        right = 0
        for batch in torch.randperm(PICTURES).split(BATCH):
            scores = forward(weights, CONFIG, images[batch])
            optimizer.zero_grad()
            functional.cross_entropy(scores, labels[batch]).backward()
            optimizer.step()
            schedule.step()
            right += int((scores.argmax(1) == labels[batch]).sum())
        logging.info("epoch %d: accuracy %.3f", epoch, right / PICTURES)
    save_file({name: value.detach().contiguous() for name, value in weights.items()}, FILE)


def _start(name: str, size: tuple[int, ...]) -> torch.Tensor:
    if "layernorm" in name and name.endswith("weight"):
        return torch.ones(size)
    return torch.zeros(size) if name.endswith("bias") else torch.randn(size) * 0.05


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
