# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run on batches of the second camera and adjust scales and shifts of the norms until the answers are clear-cut."""

import numpy as np
import torch
from fcn import build, prepared
from safetensors.torch import load_file, save_file


def norms(network):
    return [module for module in network.modules() if module.__class__.__name__ == "BatchNorm2d"]


def uncertainty(scores):
    chances = scores.softmax(1)
    return -(chances * chances.clamp_min(1e-8).log()).sum(1).mean()


torch.manual_seed(3)
torch.set_num_threads(1)
network = build()
network.load_state_dict(load_file("pretrained/model.safetensors"))
pictures = torch.as_tensor(np.load("data/unlabelled_images.npy"))
for parameter in network.parameters():
    parameter.requires_grad_(False)
free = []
for norm in norms(network):
    free += [norm.weight.requires_grad_(True), norm.bias.requires_grad_(True)]
optimizer = torch.optim.SGD(free, lr=0.02, momentum=0.9)
network.train()
for _ in range(2):
    for part in torch.randperm(len(pictures)).split(100):
        loss = uncertainty(network(prepared(pictures[part])))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
for norm in norms(network):
    norm.running_mean.zero_()
    norm.running_var.fill_(1.0)
    norm.num_batches_tracked.zero_()
    norm.momentum = None
with torch.no_grad():
    for part in pictures.split(100):
        network(prepared(part))
save_file(network.state_dict(), "model.safetensors")
