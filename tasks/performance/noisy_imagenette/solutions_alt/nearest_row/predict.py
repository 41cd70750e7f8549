# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Tell which true class most likely leads to the labels that the network expects for a picture."""

import pathlib

import numpy as np
import PIL.Image
import torch

FOLDER = pathlib.Path(__file__).resolve().parent / "model"


def pixels(paths):
    return torch.stack([torch.from_numpy(np.array(PIL.Image.open(path).convert("RGB"))) for path in paths])


class Labeller(torch.nn.Module):
    """Expects labels, the wrong ones included."""

    def __init__(self):
        super().__init__()
        self.one = torch.nn.Conv2d(3, 16, 3, padding=1)
        self.two = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.three = torch.nn.Conv2d(32, 64, 3, padding=1)
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm2d(width) for width in (16, 32, 64))
        self.drop = torch.nn.Dropout(0.2)
        self.head = torch.nn.Linear(1024, 8)

    def forward(self, pictures):
        states = pictures.permute(0, 3, 1, 2).float() / 127.5 - 1
        for place, layer in enumerate((self.one, self.two, self.three)):
            states = torch.relu(self.norms[place](layer(states)))
            states = torch.nn.functional.max_pool2d(states, 2) if place < 2 else states
        return self.head(self.drop(states.flatten(1)))


def log_chances(model, pictures):
    model.eval()
    with torch.no_grad():
        both = [model(part).softmax(1) + model(part.flip(2)).softmax(1) for part in pictures.split(256)]
    return torch.cat(both) / 2


def predict(paths):
    torch.set_num_threads(1)
    saved = torch.load(FOLDER / "all.pt", weights_only=True)
    model = Labeller()
    model.load_state_dict(saved["labeller"])
    expected = log_chances(model, pixels(paths))
    return (expected @ saved["rows"].log().T + saved["shift"]).argmax(1).tolist()
