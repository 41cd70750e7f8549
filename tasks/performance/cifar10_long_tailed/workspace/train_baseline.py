"""The baseline: `python train_baseline.py --epochs 20`."""

import argparse
from pathlib import Path

import torch
from dataset import load_training_set
from safetensors.torch import save_file
from torch.nn import functional
from utils import WEIGHTS, Baseline


def shifted(pictures, most):
    """Move each picture by a few pixels, and mirror half of them."""
    count, channels, height, width = pictures.shape
    padded = functional.pad(pictures.float(), [most] * 4, mode="reflect")
    down, right = torch.randint(0, 2 * most + 1, (2, count, 1))
    rows, columns = down + torch.arange(height), right + torch.arange(width)
    columns = torch.where(torch.rand(count, 1) < 0.5, columns.flip(1), columns)
    which, planes = torch.arange(count)[:, None, None, None], torch.arange(channels)[None, :, None, None]
    return padded[which, planes, rows[:, None, :, None], columns[:, None, None, :]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=20)
    said = parser.parse_args()
    torch.manual_seed(0)
    images, labels = load_training_set()
    model = Baseline()
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(said.epochs):
        order, total = torch.randperm(len(labels)), 0.0
        for rows in order.split(100):
            loss = functional.cross_entropy(model(shifted(images[rows], 3)), labels[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch + 1}: loss {total / len(labels):.4f}")
    Path(WEIGHTS).parent.mkdir(exist_ok=True)
    save_file(model.state_dict(), WEIGHTS)


if __name__ == "__main__":
    main()
