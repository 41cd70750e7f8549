# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the submitted model on given weights, labels and tokens; knows no expected value."""

import numpy as np
import torch


def probe(inputs: dict) -> dict:
    from var import VAR

    torch.manual_seed(inputs["seed"])
    answers = {}
    for number, sizes in enumerate(inputs["cases"]):
        model = VAR(**sizes, label_dropout=0.5)
        parameters = dict(sorted(model.named_parameters()))
        answers[f"shapes {number}"] = {name: list(value.shape) for name, value in parameters.items()}
        _fill(parameters, inputs[f"weights {number}"])
        made = _case(model, {name: inputs[f"{name} {number}"] for name in ("labels", "tokens", "pulls")}, inputs)
        answers |= {f"{kind} {number}": value for kind, value in made.items()}
    return answers


def _case(model, given: dict, inputs: dict) -> dict:
    answers = {}
    labels, tokens = (torch.from_numpy(given[name].copy()) for name in ("labels", "tokens"))
    pulls = torch.from_numpy(given["pulls"].copy())
    stages = len(model.scales)
    for count in range(1, stages + 1):
        answers |= _forward(model.eval(), labels, tokens, pulls, count, f"evaluated {count}")
    answers |= _forward(model.eval(), labels, tokens, pulls, None, "evaluated all")
    for rate in (0.0, 1.0):
        model.label_dropout = rate
        answers |= _forward(model.train(), labels, tokens, pulls, None, f"trained {rate:.0f}")
    model.label_dropout = 0.5
    with torch.no_grad():
        answers["half dropped"] = model.train()(labels[:1].repeat(400), tokens[:1].repeat(400, 1, 1), 1)[:, 0]
    for step, guidance in enumerate(inputs["guidances"]):
        (model.train() if step % 2 else model.eval())
        for again in (0, 1):
            pictures, codes = model.sample(labels, guidance=guidance, top_k=1)
            answers |= {f"pictures {step} {again}": pictures, f"codes {step} {again}": codes}
    answers |= _forward(model.eval(), labels, tokens, pulls, None, "after sampling")
    answers |= _drawn(model, labels[:1], inputs)
    answers["refused"] = [_refused(model, labels, tokens, *wrong) for wrong in inputs["wrong"]]
    answers["refused to sample"] = _refused_to_sample(model, labels)
    return answers


def _drawn(model, label, inputs: dict) -> dict:
    answers = {}
    many = inputs["draws"]
    asked = {"all": (0, 1, many), "few": (inputs["top_k"], 1, many)}
    asked |= {"once": (0, 1, 20), "again": (0, 1, 20), "other": (0, 2, 20)}
    for name, (top_k, seed, count) in asked.items():
        generator = torch.Generator().manual_seed(inputs["seed"] + seed)
        made = model.sample(label.repeat(count), guidance=inputs["guidance"], top_k=top_k, generator=generator)
        answers[f"drawn {name}"] = made[1]
    return answers


def _forward(model, labels, tokens, pulls, stages, name: str) -> dict:
    model.zero_grad()
    given = tokens.clone().requires_grad_()
    logits = model(labels, given) if stages is None else model(labels, given, stages)
    pull = pulls[:, : logits.shape[1]]
    if logits.requires_grad and logits.shape == pull.shape:
        (logits * pull).sum().backward()
    gradients = [_gradient(value).reshape(-1) for _, value in sorted(model.named_parameters())]
    found = {"logits": logits.detach(), "token gradients": _gradient(given), "gradients": np.concatenate(gradients)}
    return {f"{kind} {name}": value for kind, value in found.items()}


def _refused(model, labels, tokens, label, stages) -> str:
    wrong = labels.clone()
    wrong[-1] = model.classes + label if label >= 0 else label
    if label == 100:
        wrong = labels
    try:
        model(wrong, tokens, len(model.scales) + 1 if stages == 100 else stages)
    except IndexError:
        return "IndexError"
    except Exception as error:
        return type(error).__name__
    return "no error"


def _refused_to_sample(model, labels) -> str:
    try:
        model.sample(torch.full_like(labels, model.classes))
    except IndexError:
        return "IndexError"
    return "no error"


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
