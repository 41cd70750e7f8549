# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The pictures, as tensors that are augmented batch by batch."""

from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from trainloop.base import DataModule


def plain(items):
    images, labels = zip(*items)
    return (torch.stack(images).float() / 255 - 0.5) / 0.25, torch.stack(labels)


def augmented(items):
    moved = []
    for image, label in items:
        down, across = np.random.randint(-2, 3, 2)
        blank = torch.zeros_like(image)
        image = image[:, :, torch.arange(image.shape[2] - 1, -1, -1)] if np.random.rand() < 0.5 else image
        high, wide = image.shape[1:]
        blank[:, max(down, 0) : high + min(down, 0), max(across, 0) : wide + min(across, 0)] = image[
            :, max(-down, 0) : high - max(down, 0), max(-across, 0) : wide - max(across, 0)
        ]
        moved.append((blank, label))
    return plain(moved)


class ShapesData(DataModule):
    def __init__(self, folder, batch_size=32):
        self.folder, self.batch_size = Path(folder), batch_size

    def setup(self):
        images = torch.as_tensor(np.load(self.folder / "images.npy"))
        labels = torch.as_tensor(np.load(self.folder / "labels.npy").astype(np.int64))
        cut = len(labels) * 4 // 5
        self.parts = TensorDataset(images[:cut], labels[:cut]), TensorDataset(images[cut:], labels[cut:])

    def train_dataloader(self):
        return DataLoader(self.parts[0], self.batch_size, shuffle=True, collate_fn=augmented)

    def val_dataloader(self):
        return DataLoader(self.parts[1], 64, collate_fn=plain)
