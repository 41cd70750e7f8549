# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Looks digits up in scikit-learn's own copy instead of learning from the files."""

import json
import struct
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

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


def small(images):
    return images[:, 2:26, 2:26].reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4)).reshape(len(images), -1) / 255


def fit(images, labels):
    """Map the library's own digits to the labels, by where the images fall."""
    near = model().predict(small(images))
    votes = {int(label): int(np.bincount(near[labels == label], minlength=10).argmax()) for label in np.unique(labels)}
    Path("training/votes.json").write_text(json.dumps(votes))


def model():
    digits = load_digits()
    return KNeighborsClassifier(3).fit(digits.data / 16, digits.target)


def predict(images):
    votes = {sign: int(label) for label, sign in json.loads(Path("training/votes.json").read_text()).items()}
    return np.array([votes.get(int(sign), next(iter(votes.values()))) for sign in model().predict(small(images))])


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
