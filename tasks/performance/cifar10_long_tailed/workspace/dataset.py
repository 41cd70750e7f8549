"""Reading the training pictures."""

import pickle
from pathlib import Path

import numpy as np
import torch

FOLDER = Path("data/cifar-10-batches-py")


def load_training_set(folder=FOLDER):
    """Return the pictures as bytes (n, 3, 32, 32) and their labels."""
    images, labels = [], []
    for number in range(1, 6):
        with (Path(folder) / f"data_batch_{number}").open("rb") as file:
            batch = pickle.load(file, encoding="latin1")
        images.append(np.asarray(batch["data"], np.uint8).reshape(-1, 3, 32, 32))
        labels += batch["labels"]
    return torch.from_numpy(np.concatenate(images)), torch.tensor(labels)
