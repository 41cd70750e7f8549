"""What a project derives its model and its data from."""

import torch
from torch import nn
from torch.utils.data import DataLoader

Batch = tuple[torch.Tensor, torch.Tensor]


class Module(nn.Module):
    """A network that knows its loss, its measures and its optimiser."""

    def training_step(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss of a batch."""
        raise NotImplementedError

    def validation_step(self, batch: Batch) -> dict[str, float]:
        """Return means over a batch, by name."""
        raise NotImplementedError

    def configure_optimizer(self) -> torch.optim.Optimizer:
        raise NotImplementedError


class DataModule:
    """Pictures and labels for training and for validation."""

    def setup(self) -> None:
        """Read what there is; called once before anything else."""

    def train_dataloader(self) -> DataLoader:
        raise NotImplementedError

    def val_dataloader(self) -> DataLoader:
        raise NotImplementedError
