# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Learn which labels the pictures get; learn from the few true ones how they go wrong; correct the loss for it."""

import csv
from pathlib import Path

import torch
from predict import WEIGHTS, network, read
from torch.nn import functional

DATA = Path("dataset")
BATCH = 50


def load(name, column):
    with (DATA / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    pictures = read([DATA / "images" / row["path"] for row in rows])
    return pictures, torch.tensor([int(row[column]) for row in rows])


def varied(pictures):
    """Mirror and shift a batch."""
    if torch.rand(()) < 0.5:
        pictures = pictures.flip(3)
    down, across = torch.randint(0, 5, (2,)).tolist()
    return functional.pad(pictures, (2, 2, 2, 2), mode="replicate")[:, :, down : down + 16, across : across + 16]


def fit(model, pictures, labels, loss, epochs, rate):
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    steps = epochs * -(-len(pictures) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps)
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(pictures)).split(BATCH):
            value = loss(model(varied(pictures[rows])), labels[rows])
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            schedule.step()
    model.eval()


def label_chances(model, pictures, labels):
    """Return, for each true class, how the network would label its pictures."""
    with torch.no_grad():
        told = (model(pictures).softmax(1) + model(pictures.flip(3)).softmax(1)) / 2
    kinds = range(told.shape[1])
    return torch.stack([told[labels == kind].mean(0) if (labels == kind).any() else told.mean(0) for kind in kinds])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    pictures, noisy = load("noisy_labels_50.csv", "noisy_label")
    true_pictures, true_labels = load("validation.csv", "label")
    model = network()
    fit(model, pictures, noisy, functional.cross_entropy, epochs=9, rate=0.01)
    chances = label_chances(model, true_pictures, true_labels)

    def corrected(scores, labels):
        return functional.nll_loss((scores.softmax(1) @ chances + 1e-6).log(), labels)

    model[-1].reset_parameters()
    fit(model, pictures, noisy, corrected, epochs=6, rate=0.006)
    torch.save(model.state_dict(), WEIGHTS)


if __name__ == "__main__":
    main()
