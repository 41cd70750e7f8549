# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Learn three digits with a small network."""

import json
import struct
from pathlib import Path

import numpy as np
import torch
from torch import nn

RAW = Path("data/MNIST/raw")


def read_idx(name):
    data = (RAW / name).read_bytes()
    dimensions = data[3]
    shape = struct.unpack(f">{dimensions}I", data[4 : 4 + 4 * dimensions])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def read_set(name, wanted):
    images, labels = read_idx(f"{name}-images-idx3-ubyte"), read_idx(f"{name}-labels-idx1-ubyte")
    kept = np.isin(labels, wanted)
    return images[kept], labels[kept].astype(int)


def describe(name, labels, accuracy):
    present = sorted({int(label) for label in labels})
    return {
        f"{name}_accuracy": accuracy,
        f"unique_{name}_labels": present,
        f"num_{name}_samples": len(labels),
        f"samples_per_class_{name}": {str(label): int((labels == label).sum()) for label in present},
    }


def network():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))


def as_tensor(images):
    return torch.from_numpy(np.asarray(images, dtype=np.float32) / 255)


def fit(images, labels, epochs=15):
    """Train on the images until they are known; the ten outputs are the ten possible labels."""
    torch.set_num_threads(1)  # the network is tiny
    torch.manual_seed(0)
    inputs, targets = as_tensor(images), torch.from_numpy(labels)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(epochs):
        for batch in torch.randperm(len(inputs)).split(32):
            loss = nn.functional.cross_entropy(model(inputs[batch]), targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    torch.save(model.state_dict(), "training/model.pt")


def predict(images):
    """Return the label of each image."""
    model = network()
    model.load_state_dict(torch.load("training/model.pt", weights_only=True))
    with torch.no_grad():
        return model(as_tensor(images)).argmax(dim=1).numpy()


def accuracy(images, labels):
    return float((predict(images) == labels).mean())


def main():
    wanted = json.loads(Path("data/digits.json").read_text(encoding="utf-8"))
    train_images, train_labels = read_set("train", wanted)
    test_images, test_labels = read_set("t10k", wanted)
    fit(train_images, train_labels)
    results = describe("train", train_labels, accuracy(train_images, train_labels))
    results |= describe("test", test_labels, accuracy(test_images, test_labels))
    Path("training/training_results.json").write_text(json.dumps(results, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
