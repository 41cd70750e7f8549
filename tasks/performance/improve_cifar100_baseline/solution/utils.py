# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""A plain stack of convolutions as one Sequential, with the normalisation folded into it."""

import torch
from safetensors import safe_open

PATH = "best_checkpoint/weights.safetensors"


def block(before, after, pool=True):
    layers = [torch.nn.Conv2d(before, after, 3, padding=1, bias=False), torch.nn.BatchNorm2d(after), torch.nn.GELU()]
    return [*layers, torch.nn.MaxPool2d(2)] if pool else layers


class Network(torch.nn.Module):
    def __init__(self, fine, coarse):
        super().__init__()
        self.body = torch.nn.Sequential(*block(3, 18), *block(18, 36), *block(36, 56, pool=False), *block(56, 56))
        self.fine = torch.nn.Linear(56 * 4, fine)
        self.coarse = torch.nn.Linear(56 * 4, coarse)

    def both(self, small):
        features = self.body(small).flatten(1)
        return self.fine(features), self.coarse(features)

    def forward(self, images):
        return self.both(shrink(images))[0]


def shrink(images):
    scaled = (images.float() - 127.5) / 127.5
    return torch.nn.functional.interpolate(scaled, scale_factor=0.5, mode="area")


def get_best_model():
    with safe_open(PATH, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    network = Network(tensors["fine.weight"].shape[0], tensors["coarse.weight"].shape[0])
    network.load_state_dict(tensors)
    return network.eval()
