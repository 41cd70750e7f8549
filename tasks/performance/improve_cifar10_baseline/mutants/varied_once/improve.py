# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Momentum descent from fresh weights, on pictures that are turned, moved, scaled and recoloured anew at every step.

The baseline has settled on colours and places; going on from it ends lower than beginning anew.
"""

from pathlib import Path

import torch
from model import build
from pictures import load_training_set
from torch.nn import functional

STEPS, BATCH, RATE = 400, 66, 0.1


def varied(pictures):
    """A shape stays what it is whatever its place, tilt, size and colours."""
    count = len(pictures)
    tilt, scale = (torch.rand(2, count) * 2 - 1) * torch.tensor([[0.35], [0.15]])
    move = (torch.rand(2, count) * 2 - 1) * 0.22
    cos, sin = torch.cos(tilt) * (1 + scale), torch.sin(tilt) * (1 + scale)
    maps = torch.stack([cos, -sin, move[0], sin, cos, move[1]], 1).view(count, 2, 3)
    grid = functional.affine_grid(maps, list(pictures.shape), align_corners=False)
    moved = functional.grid_sample(pictures, grid, padding_mode="reflection", align_corners=False)
    basis, upper = torch.linalg.qr(torch.randn(count, 3, 3))
    basis = basis * torch.diagonal(upper, dim1=1, dim2=2).sign()[:, None, :]  # so that no direction is preferred
    return torch.einsum("nij,njhw->nihw", basis, moved)


def started(model):
    """Weights large enough for the signal to pass: the default ones may rest for half of the steps before they move."""
    for layer in model.features:
        if isinstance(layer, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(layer.weight)
            torch.nn.init.zeros_(layer.bias)
    return model


def batches(count):
    """Go through the pictures in ever new orders."""
    while True:
        yield from torch.randperm(count)[: count // BATCH * BATCH].split(BATCH)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    pictures, labels = load_training_set()
    model = started(build())
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, nesterov=True, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, STEPS, pct_start=0.2, cycle_momentum=False)
    for _, rows in zip(range(STEPS), batches(len(labels))):
        loss = functional.cross_entropy(model(varied(pictures[rows])), labels[rows])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimiser.step()
        schedule.step()
    Path("checkpoints").mkdir(exist_ok=True)
    torch.save(model.state_dict(), "checkpoints/best.pt")


if __name__ == "__main__":
    main()
