# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""A stack of convolutions as one Sequential on pictures of half the size."""

import torch
from safetensors import safe_open

PATH = "checkpoints/best.safetensors"


def network():
    layers, before = [], 3
    for after in (18, 36, 48):
        layers += [torch.nn.Conv2d(before, after, 3, padding=1), torch.nn.LeakyReLU(0.05), torch.nn.MaxPool2d(2)]
        before = after
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(before * 4, 10))


def shrink(images):
    scaled = (images.float() - 127.5) / 127.5
    return torch.nn.functional.interpolate(scaled, scale_factor=0.5, mode="area")


class Best(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, images):
        return self.inner(shrink(images))


def get_best_model():
    inner = network()
    with safe_open(PATH, framework="pt") as file:
        inner.load_state_dict({name: file.get_tensor(name) for name in file.keys()})
    return Best(inner).eval()
