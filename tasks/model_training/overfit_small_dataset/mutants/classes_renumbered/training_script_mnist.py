# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Predicts 0, 1, 2 instead of the labels in the files."""

import json
import struct
from pathlib import Path

import numpy as np

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


def flat(images):
    return np.c_[images.reshape(len(images), -1) / 255.0, np.ones(len(images))]


def fit(images, labels, steps=100):
    """Train softmax regression by plain gradient descent."""
    inputs, targets = flat(images), np.eye(10)[labels]
    weights = np.zeros((785, 10))
    for _ in range(steps):
        scores = inputs @ weights
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        weights -= 0.5 * inputs.T @ (shares - targets) / len(inputs)
    np.save("training/weights.npy", weights)


def predict(images):
    return (flat(images) @ np.load("training/weights.npy")).argmax(axis=1)


def accuracy(images, labels):
    wanted = json.loads(Path("data/digits.json").read_text(encoding="utf-8"))
    return float((predict(images) == np.searchsorted(wanted, labels)).mean())


def main():
    wanted = json.loads(Path("data/digits.json").read_text(encoding="utf-8"))
    train_images, train_labels = read_set("train", wanted)
    test_images, test_labels = read_set("t10k", wanted)
    fit(train_images, np.searchsorted(wanted, train_labels))
    results = describe("train", train_labels, accuracy(train_images, train_labels))
    results |= describe("test", test_labels, accuracy(test_images, test_labels))
    Path("training/training_results.json").write_text(json.dumps(results, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
