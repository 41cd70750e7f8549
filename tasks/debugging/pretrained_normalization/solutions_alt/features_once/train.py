# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train a linear classifier on features that are computed once."""

import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from backbone import load_backbone


@torch.no_grad()
def features(images, pretrained_dir):
    given = json.loads((Path(pretrained_dir) / "preprocessing.json").read_text())
    pixels = np.asarray(images, np.float64) / given["scale"]
    pixels = (pixels - np.reshape(given["mean"], (3, 1, 1))) / np.reshape(given["std"], (3, 1, 1))
    backbone = load_backbone(pretrained_dir).eval()
    return torch.cat([backbone(part) for part in torch.from_numpy(pixels).float().split(128)])


def split(folder, name):
    return np.load(f"{folder}/{name}_images.npy"), torch.from_numpy(np.load(f"{folder}/{name}_labels.npy")).long()


def train(data_dir, pretrained_dir, out_dir, epochs=8):
    torch.manual_seed(1)
    (images, labels), (val_images, val_labels) = split(data_dir, "train"), split(data_dir, "val")
    views = torch.stack([features(images, pretrained_dir), features(images[..., ::-1].copy(), pretrained_dir)])
    shown = features(val_images, pretrained_dir)
    head = torch.nn.Linear(views.shape[2], 10)
    optimizer = torch.optim.AdamW(head.parameters(), lr=0.02)
    loss_of = torch.nn.CrossEntropyLoss()
    history = []
    for epoch in range(epochs):
        losses, hits = [], []
        for batch in torch.randperm(len(labels)).split(25):
            scores = head(views[torch.randint(2, (len(batch),)), batch])
            loss = loss_of(scores, labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses += [loss.item()] * len(batch)
            hits += (scores.argmax(1) == labels[batch]).tolist()
        with torch.no_grad():
            scores = head(shown)
        history.append(
            {
                "epoch": epoch + 1,
                "train_loss": float(np.mean(losses)),
                "train_acc": 100 * float(np.mean(hits)),
                "val_loss": loss_of(scores, val_labels).item(),
                "val_acc": 100 * float((scores.argmax(1) == val_labels).double().mean()),
            }
        )
    out = Path(out_dir)
    out.mkdir(exist_ok=True, parents=True)
    tensors = {f"backbone.{name}": value for name, value in load_backbone(pretrained_dir).state_dict().items()}
    save_file({**tensors, **{f"head.{name}": value for name, value in head.state_dict().items()}}, out / "model.safetensors")
    (out / "train_metrics.json").write_text(json.dumps({"history": history}))
    return {"history": history}


@torch.no_grad()
def predict(images, pretrained_dir, out_dir):
    made = load_file(Path(out_dir) / "model.safetensors")
    return (features(images, pretrained_dir) @ made["head.weight"].T + made["head.bias"]).numpy()


if __name__ == "__main__":
    train("data", "pretrained", "run")
