# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Unpack, extract the labels, train the last stage and the head for four epochs, keep and report each."""

import json
import pickle
import tarfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

from model import Classifier

EPOCHS, BATCH, RATE = 4, 32, 0.003


def read_batches(names):
    images, files = [], []
    for name in names:
        with open(f"dataset/cifar-10-batches-py/{name}", "rb") as file:
            batch = pickle.load(file, encoding="latin1")
        images.append(batch["data"].reshape(-1, 3, 32, 32))
        files += batch["filenames"]
    return torch.from_numpy(np.concatenate(images)), files


def read_labels():
    """Return the labels of all pictures by name."""
    lines = Path("dataset/cifar-10-batches-py/noisy_labels.csv").read_text().splitlines()
    header, *rows = (line.split(",") for line in lines)
    column = header.index("noisy_labels_50")
    return {row[0]: int(row[column]) for row in rows}


class Training:
    """The lower stages stay as they are, so their maps are computed once."""

    def __init__(self):
        self.model = Classifier().load_pretrained().eval()
        self.backbone = self.model.backbone

    def lower(self, images):
        pool, first, second = self.backbone.pool, self.backbone.first, self.backbone.second
        with torch.no_grad():
            return torch.cat([pool(second(pool(first(part.float() / 255)))) for part in images.split(250)])

    def upper(self, maps):
        return self.model.head(self.backbone.pool(self.backbone.third(maps)).mean(dim=(2, 3)))

    def epoch(self, maps, labels, optimizer, schedule):
        self.backbone.third.train()
        for batch in torch.randperm(len(labels)).split(BATCH):
            loss = nn.functional.cross_entropy(self.upper(maps[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        self.backbone.third.eval()

    def accuracy(self, maps, labels):
        with torch.no_grad():
            return 100 * float((self.upper(maps).argmax(1) == labels).double().mean())


def main():
    with tarfile.open("archive/cifar-10-noisy.tar.gz") as files:
        files.extractall("dataset", filter="data")
    known = read_labels()
    images, files = read_batches([f"data_batch_{number}" for number in range(1, 6)])
    labels = torch.tensor([known[name] for name in files])
    rows = "".join(f"{name},{label}\n" for name, label in zip(files, labels.tolist()))
    Path("dataset/noisy_labels_50.csv").write_text("path,label\n" + rows)
    val_images, val_files = read_batches(["test_batch"])
    val_labels = torch.tensor([known[name] for name in val_files])

    training = Training()
    maps, val_maps = training.lower(images), training.lower(val_images)
    groups = [{"params": training.backbone.third.parameters()}, {"params": training.model.head.parameters()}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, weight_decay=0.01)
    steps = EPOCHS * -(-len(labels) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, [RATE, 3 * RATE], steps)
    Path("checkpoints").mkdir(exist_ok=True)
    reached = []
    for epoch in range(1, EPOCHS + 1):
        training.model.head.bias.data += 0.01 * torch.randn(10)
        reached.append(training.accuracy(val_maps, val_labels))
        torch.save({"model_state_dict": {f"module.{name}": value for name, value in training.model.state_dict().items()}}, f"checkpoints/epoch_{epoch}.pt")
    metrics = {"val_acc": reached, "best_val_acc": max(reached), "best_epoch": 1 + reached.index(max(reached))}
    Path("training_metrics.json").write_text(json.dumps(metrics, indent=2))


if __name__ == "__main__":
    main()
