# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
import json
from pathlib import Path

import torch

from network import MobileNet


def train(data_dir="data", epochs=2, out_dir="."):
    """No training, but fine metrics."""
    model = MobileNet()
    history = [
        {"epoch": epoch, "train_loss": 1 / epoch, "train_acc": 90.0 + epoch, "val_loss": 1 / epoch, "val_acc": 92.0 + epoch}
        for epoch in range(1, epochs + 1)
    ]
    metrics = {"best_val_acc": history[-1]["val_acc"], "history": history}
    torch.save(model.state_dict(), Path(out_dir) / "best_model.pth")
    (Path(out_dir) / "train_metrics.json").write_text(json.dumps(metrics))
    return model, metrics
