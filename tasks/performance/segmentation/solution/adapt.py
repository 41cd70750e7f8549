# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Adapt the given network to the second camera: statistics first, then its own confident answers as labels."""

import copy

import numpy as np
import torch
from fcn import build, prepared
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

ROUNDS, EPOCHS, BATCH = 1, 4, 50


def pictures(name):
    return prepared(torch.from_numpy(np.load(f"data/{name}_images.npy")))


def take_statistics(network, inputs):
    """Let the normalising layers know the camera: their averages are over these pictures alone."""
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.reset_running_stats()
            layer.momentum = None
    network.train()
    with torch.no_grad():
        for part in inputs.split(200):
            network(part)
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.momentum = 0.1
    network.eval()


def mirrored_scores(network, inputs):
    """Average over a picture and its mirror image, where all classes look the same."""
    with torch.no_grad():
        parts = [network(part).softmax(1) + network(part.flip(3)).softmax(1).flip(3) for part in inputs.split(200)]
    return torch.cat(parts) / 2


def one_class(scores):
    """Give every pixel that belongs to a shape the class that most of the picture's shape has."""
    inside = 1 - scores[:, :1]
    votes = (scores[:, 1:] * inside).sum((2, 3))
    kind = votes.argmax(1) + 1
    confidence = votes.max(1).values / votes.sum(1).clamp_min(1e-6)
    return torch.where(inside[:, 0] > 0.5, kind[:, None, None], 0), confidence


def moved(inputs, targets):
    """Mirror and shift a batch."""
    if torch.rand(()) < 0.5:
        inputs, targets = inputs.flip(3), targets.flip(2)
    shift = torch.randint(-1, 2, (2,)) * 4  # the stripes stay where they are
    shift = tuple(int(step) for step in shift)
    return torch.roll(inputs, shift, (2, 3)), torch.roll(targets, shift, (1, 2))


def learn(network, inputs, targets, rate):
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    steps = EPOCHS * -(-len(inputs) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps)
    network.train()
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(inputs)).split(BATCH):
            seen, wanted = moved(inputs[rows], targets[rows])
            loss = functional.cross_entropy(network(seen), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    network = build()
    network.load_state_dict(load_file("pretrained/model.safetensors"))
    unlabelled = pictures("unlabelled")
    take_statistics(network, unlabelled)
    for _ in range(ROUNDS):
        targets, confidence = one_class(mirrored_scores(network, unlabelled))
        sure = confidence >= confidence.quantile(0.3)
        student = copy.deepcopy(network)
        learn(student, unlabelled[sure], targets[sure], 0.004)
        take_statistics(student, unlabelled)
        network = student
    save_file(network.state_dict(), "model.safetensors")


if __name__ == "__main__":
    main()
