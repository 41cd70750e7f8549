# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""How the shipped backbone was made: on ten shapes, none of which is among those of the task.

Run from this task's folder with the harness's Python.
"""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from mldevbench import plugin

HERE = Path(__file__).parent.parent
EPOCHS, BATCH, PICTURES = 10, 64, 6000


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    backbone = plugin.load(HERE / "workspace" / "model.py").Backbone()
    head = nn.Linear(96, 10)
    pictures = plugin.load(HERE / "hidden" / "other_shapes.py").draw_other_pictures(np.random.default_rng(31), PICTURES)
    images = torch.from_numpy(pictures.images.astype(np.float32)) / 255
    labels = torch.from_numpy(pictures.labels)
    optimizer = torch.optim.AdamW([*backbone.parameters(), *head.parameters()], lr=0.003, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, EPOCHS * (PICTURES // BATCH + 1))
    for epoch in range(EPOCHS):
        right = 0
        for batch in torch.randperm(PICTURES).split(BATCH):
            shown = images[batch].roll((epoch % 3 - 1, epoch % 5 - 2), (2, 3))
            scores = head(backbone(shown))
            optimizer.zero_grad()
            nn.functional.cross_entropy(scores, labels[batch]).backward()
            optimizer.step()
            schedule.step()
            right += int((scores.argmax(1) == labels[batch]).sum())
        logging.info("epoch %d: accuracy %.3f", epoch, right / PICTURES)
    weights = {name: value.contiguous() for name, value in backbone.state_dict().items()}
    save_file(weights, HERE / "workspace" / "pretrained" / "weights.safetensors")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
