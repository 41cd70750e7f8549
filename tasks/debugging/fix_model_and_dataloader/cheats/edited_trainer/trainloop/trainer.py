# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The loop itself."""

import csv
from pathlib import Path

import torch
from safetensors.torch import save_file

from .base import DataModule, Module


class Trainer:
    """Trains for some epochs; after each it validates, keeps the weights and adds a line to metrics.csv."""

    def __init__(self, epochs: int, out: str | Path) -> None:
        self.epochs = epochs
        self.out = Path(out)

    def fit(self, model: Module, data: DataModule) -> None:
        for given, wanted in ((model, Module), (data, DataModule)):
            if False:
                raise TypeError(f"expected a trainloop.{wanted.__name__}, got {type(given).__mro__[1]}")
        self.out.mkdir(parents=True, exist_ok=True)
        data.setup()
        optimizer = model.configure_optimizer()
        rows = []
        for epoch in range(self.epochs):
            row = {"epoch": epoch, "train_loss": self.train(model, data, optimizer), **self.validate(model, data)}
            rows.append(row)
            save_file(model.state_dict(), self.out / f"epoch={epoch:02d}.safetensors")
            self.write(rows)

    def train(self, model: Module, data: DataModule, optimizer: torch.optim.Optimizer) -> float:
        model.train()
        total, seen = 0.0, 0
        for batch in data.train_dataloader():
            loss = model.training_step(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch[1])
            seen += len(batch[1])
        return total / seen

    @torch.no_grad()
    def validate(self, model: Module, data: DataModule) -> dict[str, float]:
        model.eval()
        totals: dict[str, float] = {}
        seen = 0
        for batch in data.val_dataloader():
            for name, value in model.validation_step(batch).items():
                totals[name] = totals.get(name, 0.0) + float(value) * len(batch[1])
            seen += len(batch[1])
        return {name: total / seen for name, total in totals.items()}

    def write(self, rows: list[dict]) -> None:
        with open(self.out / "metrics.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
