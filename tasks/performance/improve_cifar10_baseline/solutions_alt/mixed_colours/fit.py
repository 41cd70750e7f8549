# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""From fresh weights: NAdam on pictures in other colours and places at every step, with averaged weights."""

import math

import numpy as np
import torch
from model import build
from pictures import load_training_set
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

STEPS, BATCH, PEAK = 720, 64, 5e-3


def recoloured(pictures, generator):
    """Shuffle the three planes of each picture and turn some of them into their negatives."""
    count = len(pictures)
    order = torch.rand(count, 3, generator=generator).argsort(1)
    planes = pictures[torch.arange(count)[:, None], order]
    return torch.where(torch.rand(count, 3, 1, 1, generator=generator) < 0.5, -planes, planes)


def seen_otherwise(pictures, generator):
    count, size = len(pictures), pictures.shape[-1]
    angle = torch.empty(count).uniform_(-0.3, 0.3, generator=generator)
    zoom = torch.empty(count).uniform_(-0.12, 0.12, generator=generator).exp()
    place = torch.linspace(-1, 1, size) * (size - 1) / size
    down, across = torch.meshgrid(place, place, indexing="ij")
    offset = torch.empty(2, count, 1, 1).uniform_(-0.2, 0.2, generator=generator)
    cos, sin = (angle.cos() * zoom)[:, None, None], (angle.sin() * zoom)[:, None, None]
    grid = torch.stack([cos * across - sin * down + offset[0], sin * across + cos * down + offset[1]], -1)
    moved = torch.nn.functional.grid_sample(pictures, grid, padding_mode="border", align_corners=False)
    return recoloured(moved, generator)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(12)
    chooser = np.random.default_rng(13)
    pictures, labels = load_training_set()
    model = build()
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.97))
    optimiser = torch.optim.NAdam(model.parameters(), lr=PEAK)
    soft = torch.nn.CrossEntropyLoss(label_smoothing=0.02)
    for step in range(STEPS):
        warm = min(1.0, (step + 1) / 60)
        for group in optimiser.param_groups:
            group["lr"] = PEAK * warm * (0.5 + 0.5 * math.cos(math.pi * step / STEPS))
        rows = torch.from_numpy(chooser.choice(len(labels), BATCH, replace=False))
        loss = soft(model(seen_otherwise(pictures[rows], generator)), labels[rows])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimiser.step()
        average.update_parameters(model)
    torch.save(average.module.state_dict(), "checkpoints/best.pt")


if __name__ == "__main__":
    main()
