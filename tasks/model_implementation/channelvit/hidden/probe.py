# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the submitted model on given weights, pictures and indices; knows no expected value."""

import numpy as np
import torch


def probe(inputs: dict) -> dict:
    from channel_vit import ChannelViT

    torch.manual_seed(inputs["seed"])
    answers = {}
    for number, sizes in enumerate(inputs["cases"]):
        model = ChannelViT(**sizes)
        parameters = dict(sorted(model.named_parameters()))
        answers[f"shapes {number}"] = {name: list(value.shape) for name, value in parameters.items()}
        _fill(parameters, inputs[f"weights {number}"])
        for name in inputs["calls"]:
            key = f"{name}, model {number}"
            for kind, value in _call(model, inputs, key, name == "all channels").items():
                answers[f"{kind}, {key}"] = value
    return answers


def _call(model, inputs: dict, key: str, bare: bool) -> dict:
    images = torch.from_numpy(inputs[f"images, {key}"].copy()).requires_grad_()
    indices = torch.from_numpy(inputs[f"indices, {key}"].copy())
    model.eval()
    model.zero_grad()
    with torch.no_grad():
        prepared = model.prepare_tokens(images, indices)
    output = model(images) if bare else model(images, indices)
    pull = torch.from_numpy(inputs[f"pull, {key}"].copy())
    if output.shape == pull.shape and output.requires_grad:
        (output * pull).sum().backward()
    gradients = [_gradient(value).reshape(-1) for _, value in sorted(model.named_parameters())]
    model.train()
    model.dropout.p = 0.5
    with torch.no_grad():
        dropped = model.prepare_tokens(images, indices)
    model.dropout.p = 0.0
    return {
        "prepared": prepared,
        "output": output.detach(),
        "image gradients": _gradient(images),
        "parameter gradients": np.concatenate(gradients),
        "dropped": dropped,
    }


def _gradient(value) -> np.ndarray:
    return (torch.zeros_like(value) if value.grad is None else value.grad).detach().clone().numpy()


def _fill(parameters: dict, weights: np.ndarray) -> None:
    start = 0
    with torch.no_grad():
        for value in parameters.values():
            part = weights[start : start + value.numel()]
            if part.size == value.numel():  # else the shapes tell
                value.copy_(torch.from_numpy(part.copy()).reshape(value.shape))
            start += value.numel()
