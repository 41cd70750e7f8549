# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Fit cost = slope * load + bend * log(1 + load) + base to a file of readings."""

import csv

import numpy as np
import torch
from torch import nn

LEARNING_RATE = 0.05
BATCH_SIZE = 10


def read(path: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loads and the costs of a file."""
    with open(path, newline="") as file:
        rows = [(float(row["load"]), float(row["cost"])) for row in csv.DictReader(file)]
    loads, costs = zip(*rows)
    return torch.tensor(loads), torch.tensor(costs)


class CostModel(nn.Module):
    """A linear model in standardised units; the units are those of the training file."""

    def __init__(self, loads: torch.Tensor, costs: torch.Tensor) -> None:
        super().__init__()
        features = self.features(loads)
        self.centre, self.spread = features.mean(dim=0), features.std(dim=0)
        self.base, self.unit = costs.mean(), costs.std()
        self.linear = nn.Linear(2, 1)

    @staticmethod
    def features(loads: torch.Tensor) -> torch.Tensor:
        return torch.stack([loads, torch.log(loads)], dim=1)

    def scaled(self, loads: torch.Tensor) -> torch.Tensor:
        return self.linear((self.features(loads) - self.centre) / self.spread).squeeze(1)

    def forward(self, loads: torch.Tensor) -> torch.Tensor:
        return self.scaled(loads) * self.unit + self.base


def train(path: str = "readings.csv", epochs: int = 20) -> tuple[CostModel, list[float]]:
    """Return the trained model and, for each epoch, the mean squared error over the whole file after it."""
    torch.manual_seed(0)
    loads, costs = read(path)
    model = CostModel(loads, costs)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for _ in range(epochs):
        for batch in torch.randperm(len(loads)).split(BATCH_SIZE):
            loss = nn.functional.mse_loss(model.scaled(loads[batch]), (costs[batch] - model.base) / model.unit)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            losses.append(nn.functional.mse_loss(model(loads), costs).item())
    return model, losses


def predict(model: CostModel, loads: np.ndarray) -> np.ndarray:
    """Return the predicted cost of each load."""
    with torch.no_grad():
        return model(torch.as_tensor(loads, dtype=torch.float32)).numpy()


if __name__ == "__main__":
    for epoch, loss in enumerate(train()[1], start=1):
        print(f"epoch {epoch:2d}: loss {loss:.4f}")
