# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the submitted attention on given weights, inputs and caches; knows no expected value."""

import numpy as np
import torch


def probe(inputs: dict) -> dict:
    from mla import RotaryLatentAttention

    answers = {}
    models = {}
    for number, sizes in enumerate(inputs["cases"]):
        model = models[number] = RotaryLatentAttention(**sizes)
        parameters = dict(sorted(model.named_parameters()))
        answers[f"shapes {number}"] = {name: list(value.shape) for name, value in parameters.items()}
        _fill(parameters, inputs[f"weights {number}"])
    for name, number, cached in inputs["calls"]:
        answers.update(_call(models[number], name, inputs, cached))
    return answers


def _call(model, name: str, inputs: dict, cached: bool) -> dict:
    model.zero_grad()
    x = torch.from_numpy(inputs[f"x {name}"].copy()).requires_grad_()
    cache = torch.from_numpy(inputs[f"cache {name}"].copy()).requires_grad_() if cached else None
    output, made = model(x, cache) if cached else model(x)
    both = torch.cat([output.flatten(), made.flatten()])
    pull = torch.from_numpy(inputs[f"pull {name}"].copy())
    if both.requires_grad and both.shape == pull.shape:
        (both * pull).sum().backward()
    parameters = [_gradient(value).reshape(-1) for _, value in sorted(model.named_parameters())]
    found = {"output": output.detach(), "cache": made.detach(), "input gradients": _gradient(x)}
    if cache is not None:
        found |= {"cache gradients": _gradient(cache), "given cache": cache.detach()}
    found["parameter gradients"] = np.concatenate(parameters)
    return {f"{key} {name}": value for key, value in found.items()}


def _gradient(value) -> np.ndarray:
    return (torch.zeros_like(value) if value.grad is None else value.grad).detach().clone().numpy()


def _fill(parameters: dict, weights: np.ndarray) -> None:
    start = 0
    with torch.no_grad():
        for value in parameters.values():
            part = weights[start : start + value.numel()]
            value.copy_(torch.from_numpy(part.copy()).reshape(value.shape))
            start += value.numel()
