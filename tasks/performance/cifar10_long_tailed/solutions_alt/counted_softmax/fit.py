# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""A softmax that counts each class as often as it occurs; what is left to the scores is what the picture says."""

import math
import os

import numpy as np
import torch
from dataset import load_training_set
from safetensors.torch import save_file
from utils import PATH, network, shrink

STEPS, BATCH, PEAK = 1200, 50, 4e-3


def recoloured(pictures):
    """Shuffle the three planes of each picture and turn some of them into their negatives."""
    order = np.random.rand(len(pictures), 3).argsort(1)
    planes = pictures[torch.arange(len(pictures))[:, None], torch.from_numpy(order)]
    return torch.where(torch.rand(len(pictures), 3, 1, 1) < 0.5, -planes, planes)


def moved(pictures):
    count, size = len(pictures), pictures.shape[-1]
    angle, zoom = torch.empty(2, count, 1, 1).uniform_(-0.3, 0.3)
    zoom = (zoom / 2).exp()
    place = (torch.arange(size) + 0.5) * 2 / size - 1
    down, across = torch.meshgrid(place, place, indexing="ij")
    offset = torch.empty(2, count, 1, 1).uniform_(-0.2, 0.2)
    x = zoom * (angle.cos() * across - angle.sin() * down) + offset[0]
    y = zoom * (angle.sin() * across + angle.cos() * down) + offset[1]
    return torch.nn.functional.grid_sample(
        pictures, torch.stack([x, y], -1), padding_mode="border", align_corners=False
    )


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    np.random.seed(4)
    images, labels = load_training_set()
    pictures, counts = shrink(images), torch.bincount(labels, minlength=10).float()
    model = network()
    optimiser = torch.optim.NAdam(model.parameters(), lr=PEAK)
    for step in range(STEPS):
        for group in optimiser.param_groups:
            group["lr"] = PEAK * min(1, (step + 1) / 60) * (0.5 + 0.5 * math.cos(math.pi * step / STEPS))
        rows = torch.from_numpy(np.random.choice(len(labels), BATCH, replace=False))
        scores = model(recoloured(moved(pictures[rows])))
        top = scores.max(1, keepdim=True).values.detach()
        weighted = counts * (scores - top).exp()
        share = weighted.gather(1, labels[rows, None])[:, 0] / weighted.sum(1)
        loss = -share.clamp_min(1e-9).log().mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimiser.step()
    os.makedirs("checkpoints", exist_ok=True)
    save_file(model.state_dict(), PATH)


if __name__ == "__main__":
    main()
