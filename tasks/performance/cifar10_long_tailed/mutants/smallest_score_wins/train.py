# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Varied pictures against few of them; the logarithm of the class frequencies added to the scores against the tail."""

from pathlib import Path

import torch
from dataset import load_training_set
from safetensors.torch import save_file
from torch.nn import functional
from utils import WEIGHTS, Classifier, prepared

EPOCHS, BATCH, RATE = 3, 50, 4e-3


def varied(pictures):
    """A shape stays what it is whatever its place, tilt, size and colours."""
    count = len(pictures)
    tilt, scale = (torch.rand(2, count) * 2 - 1) * torch.tensor([[0.35], [0.15]])
    move = (torch.rand(2, count) * 2 - 1) * 0.22
    cos, sin = torch.cos(tilt) * (1 + scale), torch.sin(tilt) * (1 + scale)
    maps = torch.stack([cos, -sin, move[0], sin, cos, move[1]], 1).view(count, 2, 3)
    grid = functional.affine_grid(maps, list(pictures.shape), align_corners=False)
    turned = functional.grid_sample(pictures, grid, padding_mode="reflection", align_corners=False)
    channels = torch.rand(count, 3).argsort(1)[:, :, None, None].expand_as(turned)
    signs = torch.randint(0, 2, (count, 3, 1, 1)) * 2 - 1
    return turned.gather(1, channels) * signs


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    images, labels = load_training_set()
    pictures = prepared(images)
    share = torch.bincount(labels, minlength=10) / len(labels)
    model = Classifier()
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    steps = len(labels) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=EPOCHS * steps, pct_start=0.2)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(labels)).split(BATCH)[:steps]:
            # The prior is a part of the training scores only, so what the model itself learns is free of it.
            scores = model.score(varied(pictures[rows])) + share.log()
            loss = functional.cross_entropy(scores, labels[rows])
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimiser.step()
            schedule.step()
    Path(WEIGHTS).parent.mkdir(exist_ok=True)
    save_file(model.state_dict(), WEIGHTS)


if __name__ == "__main__":
    main()
