"""Reading the training pictures, and what the classifier is given of a picture."""

import json
import pickle
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

FOLDER = Path("data/cifar-10-batches-py")


def prepare(images, config="model.json"):
    """Turn bytes (n, 3, 32, 32) into what the classifier takes: values from -1 to 1, averaged over small blocks."""
    pool = json.loads(Path(config).read_text(encoding="utf-8"))["pool"]
    scaled = torch.from_numpy(np.asarray(images)).float() / 127.5 - 1
    return functional.avg_pool2d(scaled, pool) if pool > 1 else scaled


def load_training_set(folder=FOLDER):
    """Return the prepared training pictures and their labels."""
    images, labels = [], []
    for number in range(1, 6):
        with (Path(folder) / f"data_batch_{number}").open("rb") as file:
            batch = pickle.load(file, encoding="latin1")
        images.append(np.asarray(batch["data"], np.uint8).reshape(-1, 3, 32, 32))
        labels.append(np.asarray(batch["labels"], np.int64))
    return prepare(np.concatenate(images)), torch.from_numpy(np.concatenate(labels))
