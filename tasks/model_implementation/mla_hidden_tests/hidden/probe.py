# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the submitted layer on given weights, inputs and pasts; knows no expected value."""

import numpy as np
import torch


def probe(inputs: dict) -> dict:
    from mla import LatentAttention

    answers = {}
    for number, sizes in enumerate(inputs["cases"]):
        layer = LatentAttention(**sizes)
        weights = dict(sorted(layer.named_parameters()))
        answers[f"shapes {number}"] = {name: list(value.shape) for name, value in weights.items()}
        with torch.no_grad():
            for name, value in weights.items():
                value.copy_(_tensor(inputs, f"weights {name} {number}"))
            later, longer = layer(_tensor(inputs, f"later inputs {number}"), _tensor(inputs, f"past {number}"))
        given = _tensor(inputs, f"inputs {number}").requires_grad_()
        outputs, cache = layer(given)
        pulled = (outputs * _tensor(inputs, f"pull {number}")).sum()
        if pulled.requires_grad:
            pulled.backward()
        made = {"outputs": outputs, "cache": cache, "later outputs": later, "later cache": longer}
        made["input gradients"] = _gradient(given)
        made["weight gradients"] = torch.cat([_gradient(value).reshape(-1) for value in weights.values()])
        answers |= {f"{name} {number}": value.detach().numpy() for name, value in made.items()}
    return answers


def _tensor(inputs: dict, name: str) -> torch.Tensor:
    return torch.from_numpy(np.array(inputs[name]))


def _gradient(value: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(value) if value.grad is None else value.grad
