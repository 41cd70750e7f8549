# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train on the files that lie here, then score pictures in parts; knows no label of them."""

import json
from pathlib import Path


def probe(inputs: dict) -> dict:
    import numpy as np
    import torch
    from safetensors.numpy import load_file

    torch.set_num_threads(1)
    from train import predict, train

    returned = train("other", "weights", "made", inputs["epochs"])
    answers = {f"tensor {name}": value for name, value in load_file("made/model.safetensors").items()}
    answers["written"] = json.loads(Path("made/train_metrics.json").read_text(encoding="utf-8"))
    answers["returned"] = json.loads(json.dumps(returned))
    part = 0
    while f"images {part}" in inputs:
        answers[f"scores {part}"] = np.asarray(predict(inputs[f"images {part}"].copy(), "weights", "made"), np.float64)
        part += 1
    return answers
