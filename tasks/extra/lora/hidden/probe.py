# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the submitted layer on given weights and inputs, and train it; knows no expected value."""

import numpy as np
import torch


def probe(inputs: dict) -> dict:
    from lora import LoRALinear

    torch.manual_seed(inputs["seed"])
    answers = {}
    for number, case in enumerate(inputs["cases"]):
        for kind, value in _case(LoRALinear(**case), inputs, number).items():
            answers[f"{kind} {number}"] = value
    for number in (0, 1):
        layer = LoRALinear(**inputs["fresh"])
        answers[f"fresh A {number}"], answers[f"fresh B {number}"] = layer.lora_A.detach(), layer.lora_B.detach()
    answers |= _dropped(LoRALinear(**inputs["wide"], dropout=0.5), inputs)
    answers |= _trained(LoRALinear(**inputs["learner"]), inputs)
    return answers


def _case(layer, inputs: dict, number: int) -> dict:
    answers = {
        "shapes": {name: list(value.shape) for name, value in sorted(layer.state_dict().items())},
        "trainable": sorted(name for name, value in layer.named_parameters() if value.requires_grad),
    }
    _fill(layer, inputs[f"weights {number}"])
    for dimensions in range(1, 5):
        x = torch.from_numpy(inputs[f"x {dimensions} {number}"].copy()).requires_grad_()
        pull = torch.from_numpy(inputs[f"pull {dimensions} {number}"].copy())
        layer.zero_grad()
        output = layer(x)
        (output * pull).sum().backward()
        answers[f"output {dimensions}"] = output.detach()
        answers[f"input gradients {dimensions}"] = _gradient(x)
        for name in ("lora_A", "lora_B"):
            answers[f"{name} gradients {dimensions}"] = _gradient(getattr(layer, name))
    x = torch.from_numpy(inputs[f"x 2 {number}"].copy())
    for step, act in enumerate((layer.unmerge, layer.merge, layer.merge, layer.unmerge, layer.unmerge)):
        act()
        answers[f"stepped weight {step}"] = layer.linear.weight.detach().clone()
        answers[f"stepped output {step}"] = layer(x).detach()
    return answers


def _dropped(layer, inputs: dict) -> dict:
    _fill(layer, inputs["wide weights"])
    x = torch.from_numpy(inputs["wide x"].copy())
    layer.train()
    trained = layer(x).detach()
    layer.eval()
    return {"dropped": trained, "not dropped": layer(x).detach()}


def _trained(layer, inputs: dict) -> dict:
    """Learn the given targets from the layer's own beginning, with the base weight that was drawn."""
    with torch.no_grad():
        layer.linear.weight.copy_(torch.from_numpy(inputs["base"].copy()))
    x, y = (torch.from_numpy(inputs[name].copy()) for name in ("training x", "training y"))
    optimiser = torch.optim.Adam([value for value in layer.parameters() if value.requires_grad], lr=0.05)
    for step in range(inputs["steps"]):
        optimiser.param_groups[0]["lr"] = 0.05 * (1 - step / inputs["steps"])
        optimiser.zero_grad()
        (layer(x) - y).square().mean().backward()
        optimiser.step()
    held_out = layer(torch.from_numpy(inputs["held-out x"].copy())).detach()
    return {"learnt": held_out, "base afterwards": layer.linear.weight.detach()}


def _gradient(value) -> np.ndarray:
    return (torch.zeros_like(value) if value.grad is None else value.grad).detach().clone().numpy()


def _fill(layer, weights: np.ndarray) -> None:
    start = 0
    with torch.no_grad():
        for _, value in sorted(layer.named_parameters()):
            part = weights[start : start + value.numel()]
            if part.size == value.numel():  # else the shapes tell
                value.copy_(torch.from_numpy(part.copy()).reshape(value.shape))
            start += value.numel()
