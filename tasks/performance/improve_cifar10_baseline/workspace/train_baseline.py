"""How the baseline was trained: `python train_baseline.py --epochs 20 [--start FILE] [--out FILE]`."""

import argparse
from pathlib import Path

import torch
from model import build
from pictures import load_training_set
from safetensors.torch import load_file
from torch.nn import functional


def shifted(pictures, most):
    """Move each picture by a few pixels, and mirror half of them."""
    count, channels, height, width = pictures.shape
    padded = functional.pad(pictures, [most] * 4, mode="reflect")
    down, right = torch.randint(0, 2 * most + 1, (2, count, 1))
    rows, columns = down + torch.arange(height), right + torch.arange(width)
    columns = torch.where(torch.rand(count, 1) < 0.5, columns.flip(1), columns)
    which, planes = torch.arange(count)[:, None, None, None], torch.arange(channels)[None, :, None, None]
    return padded[which, planes, rows[:, None, :, None], columns[:, None, None, :]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--start")
    parser.add_argument("--out", default="checkpoints/best.pt")
    said = parser.parse_args()
    torch.manual_seed(0)
    pictures, labels = load_training_set()
    model = build()
    if said.start:
        model.load_state_dict(load_file(said.start))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    most = max(1, pictures.shape[2] // 8)
    for epoch in range(said.epochs):
        order, total = torch.randperm(len(labels)), 0.0
        for rows in order.split(64):
            loss = functional.cross_entropy(model(shifted(pictures[rows], most)), labels[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch + 1}: loss {total / len(labels):.4f}")
    Path(said.out).parent.mkdir(exist_ok=True)
    torch.save(model.state_dict(), said.out)


if __name__ == "__main__":
    main()
