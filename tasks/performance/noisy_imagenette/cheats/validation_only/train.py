# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Learn the few true labels by heart, with varied pictures, and leave the wrong ones alone."""

import csv
import sys
from pathlib import Path

import torch
from predict import WEIGHTS, network, read
from torch.nn import functional

DATA = Path("dataset")
EPOCHS, BATCH, RATE = 60, 16, 0.005


def load(name, column):
    with (DATA / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    pictures = read([DATA / "images" / row["path"] for row in rows])
    return pictures, torch.tensor([int(row[column]) for row in rows])


def varied(pictures):
    if torch.rand(()) < 0.5:
        pictures = pictures.flip(3)
    down, across = torch.randint(0, 5, (2,)).tolist()
    return functional.pad(pictures, (2, 2, 2, 2), mode="replicate")[:, :, down : down + 16, across : across + 16]


def main(patience):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    pictures, labels = load("validation.csv", "label")
    model, epochs = network(), EPOCHS * patience
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, epochs * -(-len(pictures) // BATCH))
    for _ in range(epochs):
        model.train()
        for rows in torch.randperm(len(pictures)).split(BATCH):
            loss = functional.cross_entropy(model(varied(pictures[rows])), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    torch.save(model.state_dict(), WEIGHTS)


if __name__ == "__main__":
    main(int(sys.argv[1]))
