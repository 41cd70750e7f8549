# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the submitted model on given weights and images; knows no expected value."""

import numpy as np
import torch


def probe(inputs: dict) -> dict:
    from classifier_model import ClassifierModel

    answers = {}
    for number, (image_size, channels, classes) in enumerate(inputs["cases"]):
        model = ClassifierModel(image_size=image_size, channels=tuple(channels), num_classes=classes)
        images = torch.from_numpy(inputs[f"images {number}"].copy()).requires_grad_()
        with torch.no_grad():
            model(images)  # a lazy layer has its shape only after this
        parameters = dict(sorted(model.named_parameters()))
        answers[f"shapes {number}"] = {name: list(value.shape) for name, value in parameters.items()}
        answers[f"buffers {number}"] = sorted(name for name, _ in model.named_buffers())
        _fill(parameters, inputs[f"weights {number}"])
        model.train()
        outputs = model(images)
        pulled = (outputs * torch.from_numpy(inputs[f"pull {number}"].copy())).sum()
        if pulled.requires_grad:
            pulled.backward()
        answers[f"outputs {number}"] = outputs.detach().numpy()
        answers[f"image gradients {number}"] = _gradient(images)
        gradients = [_gradient(value).reshape(-1) for value in parameters.values()]
        answers[f"parameter gradients {number}"] = np.concatenate(gradients)
    return answers


def _gradient(value: torch.Tensor) -> np.ndarray:
    return (torch.zeros_like(value) if value.grad is None else value.grad).detach().numpy()


def _fill(parameters: dict, weights: np.ndarray) -> None:
    start = 0
    with torch.no_grad():
        for value in parameters.values():
            part = weights[start : start + value.numel()]
            value.copy_(torch.from_numpy(part.copy()).reshape(value.shape))
            start += value.numel()
