# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train from fresh weights, with pictures that are turned, moved, scaled and recoloured anew at every step.

The baseline has settled on colours and places; going on from it ends lower than beginning anew.
"""

from pathlib import Path

import torch
from model import build
from pictures import load_training_set
from torch.nn import functional

EPOCHS, BATCH, RATE = 130, 100, 6e-3


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
    pictures, labels = load_training_set()
    model = build()
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    steps = EPOCHS * (len(labels) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps, pct_start=0.2)
    for step in range(steps):
        if step % (len(labels) // BATCH) == 0:
            batches = iter(torch.randperm(len(labels)).split(BATCH))
        rows = next(batches)
        loss = functional.cross_entropy(model(varied(pictures[rows])), labels[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    Path("checkpoints").mkdir(exist_ok=True)
    torch.save(model.state_dict(), "checkpoints/best.pt")


if __name__ == "__main__":
    main()
