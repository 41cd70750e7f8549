# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Build the submitted transformer, fill it with given weights, hand over all that it returns, and gradients."""

import numpy as np


def probe(inputs: dict) -> dict:
    import torch
    from tiny_vit import VisionTransformer

    torch.set_num_threads(1)
    answers = {}
    for number, case in enumerate(inputs["cases"]):
        made = VisionTransformer(**{name: _size(value) for name, value in case["sizes"].items()})
        parameters = dict(sorted(made.named_parameters()))
        answers[f"shapes {number}"] = {name: list(value.shape) for name, value in parameters.items()}
        _fill(torch, parameters, inputs[f"weights {number}"])
        images = torch.from_numpy(inputs[f"images {number}"].copy()).requires_grad_()
        masks = torch.from_numpy(inputs[f"masks {number}"].copy()) if case["masked"] else None
        options = {"patch_size": _size(case["patch_size"])} if case["patch_size"] else {}
        outputs = dict(made(images, masks, **options))
        layers = made.intermediate_layers(images, count=case["count"], as_maps=case["as_maps"],
                                          with_class=case["with_class"], **options)  # fmt: skip
        for place, layer in enumerate(layers):
            parts = layer if case["with_class"] else (layer,)
            outputs |= {f"layer {place} {kind}": part for kind, part in zip(("patches", "class"), parts, strict=False)}
        pulled = sum((value * (0.3 + value)).mean() for value in outputs.values() if value.numel())
        if pulled.requires_grad:
            pulled.backward()
        answers |= {f"{name} {number}": value.detach().numpy() for name, value in outputs.items()}
        answers[f"image gradients {number}"] = _gradient(torch, images)
        gradients = [_gradient(torch, value).reshape(-1) for value in parameters.values()]
        answers[f"parameter gradients {number}"] = np.concatenate(gradients)
    return answers


def _size(value):
    return tuple(value) if isinstance(value, list) else value


def _gradient(torch, value):
    return (torch.zeros_like(value) if value.grad is None else value.grad).detach().numpy()


def _fill(torch, parameters, weights):
    start = 0
    with torch.no_grad():
        for value in parameters.values():
            value.copy_(torch.from_numpy(weights[start : start + value.numel()].copy()).reshape(value.shape))
            start += value.numel()
