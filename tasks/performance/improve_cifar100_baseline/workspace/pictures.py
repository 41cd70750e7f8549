"""Reading the training pictures."""

import pickle
from pathlib import Path

import numpy as np
import torch

FOLDER = Path("data/cifar-100-python")


def load_training_set(folder=FOLDER):
    """Return the pictures as bytes (n, 3, 32, 32), their fine labels and their coarse labels."""
    with (Path(folder) / "train").open("rb") as file:
        batch = pickle.load(file, encoding="latin1")
    images = torch.from_numpy(np.asarray(batch["data"], np.uint8).reshape(-1, 3, 32, 32))
    return images, torch.tensor(batch["fine_labels"]), torch.tensor(batch["coarse_labels"])


def class_count(folder=FOLDER):
    with (Path(folder) / "meta").open("rb") as file:
        return len(pickle.load(file, encoding="latin1")["fine_label_names"])
