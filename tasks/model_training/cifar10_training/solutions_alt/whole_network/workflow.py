# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""All layers are trained, the head ten times as fast; labels by the csv module."""

import csv
import json
import os
import pickle
import tarfile

import torch
import torch.nn.functional as F

from model import Classifier

archive = tarfile.open("archive/cifar-10-noisy.tar.gz")
root = "cifar-10-batches-py/"
text = archive.extractfile(root + "noisy_labels.csv").read().decode()
known = {row["path"]: row for row in csv.DictReader(text.splitlines())}


def load(batch):
    raw = pickle.load(archive.extractfile(root + batch), encoding="bytes")
    names = [name.decode() for name in raw[b"filenames"]]
    pictures = torch.tensor(raw[b"data"]).reshape(-1, 3, 32, 32)
    return pictures, torch.tensor([int(known[name]["noisy_labels_50"]) for name in names])


parts = [load(f"data_batch_{n}") for n in (1, 2, 3, 4, 5)]
x, y = (torch.cat([part[i] for part in parts]) for i in (0, 1))
vx, vy = load("test_batch")
os.makedirs("dataset", exist_ok=True)
with open("dataset/noisy_labels_50.csv", "w", newline="") as table:
    writer = csv.writer(table)
    writer.writerow(["label", "path"])
    writer.writerows((row["noisy_labels_50"], path) for path, row in known.items() if row["is_valid"] == "False")

net = Classifier().load_pretrained()
groups = [{"params": net.backbone.parameters(), "lr": 1e-3}, {"params": net.head.parameters(), "lr": 1e-2}]
optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
warm = torch.optim.lr_scheduler.OneCycleLR(optimizer, [1e-3, 1e-2], epochs=4, steps_per_epoch=-(-len(y) // 32))
os.makedirs("checkpoints", exist_ok=True)
history = []
for epoch in range(4):
    net.train()
    for rows in torch.randperm(len(y)).split(32):
        optimizer.zero_grad()
        F.cross_entropy(net(x[rows].float().div(255)), y[rows]).backward()
        optimizer.step()
        warm.step()
    net.eval()
    with torch.no_grad():
        found = torch.cat([net(part.float().div(255)).argmax(1) for part in vx.split(100)])
    history.append(100 * (found == vy).double().mean().item())
    state = {"epoch": epoch + 1, "model_state_dict": net.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, f"checkpoints/epoch_{epoch + 1}.pt")
best = max(range(4), key=history.__getitem__)
with open("training_metrics.json", "w") as handle:
    json.dump({"val_acc": history, "best_val_acc": history[best], "best_epoch": best + 1}, handle)
