# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The classifier: reads picture files, returns their classes."""

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn

WEIGHTS = Path(__file__).parent / "model" / "weights.pt"


def read(paths):
    pictures = [np.asarray(Image.open(path).convert("RGB")) for path in paths]
    return torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float() / 255 - 0.5


def block(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def network():
    return nn.Sequential(
        *block(3, 16), nn.MaxPool2d(2), *block(16, 32), nn.MaxPool2d(2), *block(32, 64), nn.Flatten(), nn.Linear(1024, 8)
    )


def predict(paths):
    torch.set_num_threads(1)
    model = network()
    model.load_state_dict(torch.load(WEIGHTS, weights_only=True))
    model.eval()
    pictures = read(paths)
    with torch.no_grad():
        return torch.cat([model(part) for part in pictures.split(200)]).numpy()
