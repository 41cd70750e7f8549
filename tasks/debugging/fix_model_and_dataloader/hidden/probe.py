# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Fetch batches, take single steps with given weights, and train; knows nothing of what is right."""

from importlib import import_module
from pathlib import Path


def probe(inputs: dict) -> dict:
    import numpy as np
    import torch
    from safetensors.numpy import load_file

    torch.set_num_threads(1)
    # First of all: whoever is imported later may put other classes in place of these.
    package = import_module("trainloop")
    bases = package.Module, package.DataModule
    from shapes_classifier.data import ShapesData
    from shapes_classifier.model import ShapesClassifier

    model, data = ShapesClassifier(), ShapesData("other")
    answers = {"bases": [base in type(given).__mro__ for base, given in zip(bases, (model, data), strict=True)]}
    data.setup()
    for kind, loader in (("train", data.train_dataloader), ("val", data.val_dataloader)):
        for number in range(2):
            batches = list(loader())
            answers[f"{kind} pictures {number}"] = torch.cat([batch[0] for batch in batches]).float()
            answers[f"{kind} labels {number}"] = torch.cat([batch[1].reshape(-1) for batch in batches]).to(torch.int64)
    answers |= _steps(torch, model, inputs)

    import train

    train.main(data="other", out="made", epochs=inputs["epochs"])
    for epoch in range(inputs["epochs"]):
        for name, value in load_file(f"made/epoch={epoch:02d}.safetensors").items():
            answers[f"epoch {epoch} {name}"] = np.atleast_1d(value)
    answers["metrics"] = Path("made/metrics.csv").read_text(encoding="utf-8")
    return answers


def _steps(torch, model, inputs):
    """Return scores and steps with the given weights, without and with batch statistics."""
    names = [name for name in model.state_dict() if f"weight {name}" in inputs]
    given = {name: torch.from_numpy(inputs[f"weight {name}"].copy()) for name in names}
    batch = torch.from_numpy(inputs["pictures"].copy()), torch.from_numpy(inputs["labels"].copy())
    answers = {"names": sorted(name for name in model.state_dict() if "num_batches" not in name)}
    for mode in ("eval", "train"):
        model.load_state_dict(given, strict=False)
        getattr(model, mode)()
        model.zero_grad()
        loss = model.training_step(batch)
        loss.backward()
        answers[f"{mode} loss"] = float(loss)
        answers[f"{mode} gradient"] = model.head.weight.grad.clone()
        answers[f"{mode} first gradient"] = model.conv1.weight.grad.clone()
        model.load_state_dict(given, strict=False)
        with torch.no_grad():
            answers[f"{mode} scores"] = model(batch[0])
    model.load_state_dict(given, strict=False)
    model.eval()
    with torch.no_grad():
        told = model.validation_step(batch)
    answers["validation"] = {name: float(value) for name, value in told.items()}
    return answers
