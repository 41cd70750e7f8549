# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The pictures: read, split, augmented for training."""

from pathlib import Path
from typing import Callable

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

from trainloop import DataModule

MEAN, STD = 0.5, 0.25
TRAIN_SHARE = 0.8
SHIFT = 2

Transform = Callable[[torch.Tensor], torch.Tensor]


def plain(picture: torch.Tensor) -> torch.Tensor:
    """Bytes to numbers around zero."""
    return (picture.float() / 255 - MEAN) / STD


def augmented(picture: torch.Tensor) -> torch.Tensor:
    """The same, flipped from left to right or not, and moved by up to two pixels over black."""
    if torch.rand(()) < 0.5:
        picture = picture.flip(2)
    down = across = SHIFT
    padded = nn.functional.pad(picture, (SHIFT, SHIFT, SHIFT, SHIFT))
    height, width = picture.shape[1:]
    return plain(padded[:, down : down + height, across : across + width])


class Pictures(Dataset):
    """Pictures with their labels, each put through a transform when it is fetched."""

    def __init__(self, folder: Path, transform: Transform) -> None:
        self.images = torch.from_numpy(np.load(folder / "images.npy"))
        self.labels = torch.from_numpy(np.load(folder / "labels.npy")).long()
        self.transform = transform

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, place: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.transform(self.images[place]), self.labels[place]


class ShapesData(DataModule):
    """The first four fifths of the pictures are for training, the rest for validation."""

    def __init__(self, folder: str | Path, batch_size: int = 32) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.batch_size = batch_size

    def setup(self) -> None:
        for_training, for_validation = Pictures(self.folder, augmented), Pictures(self.folder, plain)
        cut = int(len(for_training) * TRAIN_SHARE)
        self.training = Subset(for_training, range(cut))
        self.validation = Subset(for_validation, range(cut, len(for_validation)))

    def train_dataloader(self) -> DataLoader:
        return DataLoader(self.training, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self) -> DataLoader:
        return DataLoader(self.validation, batch_size=self.batch_size)
