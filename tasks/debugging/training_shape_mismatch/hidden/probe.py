# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train on the files that lie here; hand over what was returned and what was written."""

import json
from pathlib import Path


def probe(inputs: dict) -> dict:
    import torch

    torch.set_num_threads(1)
    from train import train

    Path("out").mkdir()
    model, returned = train("other", epochs=inputs["epochs"], out_dir="out")
    best = torch.load("out/best_model.pth", map_location="cpu", weights_only=True)
    answers = {f"last {name}": value for name, value in model.state_dict().items()}
    answers |= {f"best {name}": value for name, value in best.items()}
    answers["written"] = json.loads(Path("out/train_metrics.json").read_text(encoding="utf-8"))
    answers["returned"] = json.loads(json.dumps(returned))
    return answers
