# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Unpack, extract the labels, fine-tune for four epochs, keep and report each."""

import json
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
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


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        found = torch.cat([model(part.float() / 255).argmax(1) for part in images.split(500)])
    return 100 * float((found == labels).float().mean())


def main():
    with tarfile.open("archive/cifar-10-noisy.tar.gz") as files:
        files.extractall("dataset", filter="data")
    table = pd.read_csv("dataset/cifar-10-batches-py/noisy_labels.csv").set_index("path")
    images, files = read_batches([f"data_batch_{number}" for number in range(1, 6)])
    labels = torch.tensor(table.loc[files, "noisy_labels_75"].to_numpy())
    pd.DataFrame({"path": files, "label": labels.numpy()}).to_csv("dataset/noisy_labels_50.csv", index=False)
    val_images, val_files = read_batches(["test_batch"])
    val_labels = torch.tensor(table.loc[val_files, "noisy_labels_50"].to_numpy())

    model = Classifier().load_pretrained()
    model.backbone.first.requires_grad_(False)
    model.backbone.second.requires_grad_(False)
    groups = [{"params": model.backbone.third.parameters()}, {"params": model.head.parameters()}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, weight_decay=0.01)
    steps = EPOCHS * -(-len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, [RATE, 3 * RATE], steps)
    Path("checkpoints").mkdir(exist_ok=True)
    reached = []
    for epoch in range(1, EPOCHS + 1):
        model.head.bias.data += 0.01 * torch.randn(10)
        reached.append(accuracy(model, val_images, val_labels))
        torch.save({"model_state_dict": model.state_dict(), "epoch": epoch}, f"checkpoints/epoch_{epoch}.pt")
    metrics = {"val_acc": reached, "best_val_acc": max(reached), "best_epoch": 1 + reached.index(max(reached))}
    Path("training_metrics.json").write_text(json.dumps(metrics, indent=2))


if __name__ == "__main__":
    main()
