# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Learn fine and coarse labels together by momentum descent, on pictures with their colour space turned at random."""

import math
import os

import numpy as np
import torch
from pictures import load_training_set
from safetensors.torch import save_file
from utils import PATH, Network, shrink

STEPS, BATCH, PEAK = 300, 100, 0.12


def turned_colours(pictures):
    basis, upper = torch.linalg.qr(torch.randn(len(pictures), 3, 3))
    basis = basis * torch.sign(torch.diagonal(upper, dim1=1, dim2=2))[:, None, :]
    return torch.einsum("nij,njhw->nihw", basis, pictures)


def moved(pictures):
    count, size = len(pictures), pictures.shape[-1]
    angle, zoom = torch.empty(2, count, 1, 1).uniform_(-0.25, 0.25)
    zoom = (zoom / 2).exp()
    place = (torch.arange(size) + 0.5) * 2 / size - 1
    down, across = torch.meshgrid(place, place, indexing="ij")
    offset = torch.empty(2, count, 1, 1).uniform_(-0.18, 0.18)
    x = zoom * (angle.cos() * across - angle.sin() * down) + offset[0]
    y = zoom * (angle.sin() * across + angle.cos() * down) + offset[1]
    grid = torch.stack([x, y], -1)
    return torch.nn.functional.grid_sample(pictures, grid, padding_mode="border", align_corners=False)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(5)
    chooser = np.random.default_rng(6)
    images, fine, coarse = load_training_set()
    pictures = shrink(images)
    network = Network(int(fine.max()) + 1, int(coarse.max()) + 1)
    optimiser = torch.optim.SGD(network.parameters(), lr=PEAK, momentum=0.9, nesterov=True, weight_decay=5e-4)
    lossy = torch.nn.CrossEntropyLoss(label_smoothing=0.02)
    for step in range(STEPS):
        for group in optimiser.param_groups:
            group["lr"] = PEAK * min(1, (step + 1) / 40) * (0.5 + 0.5 * math.cos(math.pi * step / STEPS))
        rows = torch.from_numpy(chooser.choice(len(fine), BATCH, replace=False))
        scores, groups = network.both(turned_colours(moved(pictures[rows])))
        loss = lossy(scores, fine[rows]) + 0.5 * lossy(groups, coarse[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    os.makedirs("best_checkpoint", exist_ok=True)
    save_file(network.state_dict(), PATH)


if __name__ == "__main__":
    main()
