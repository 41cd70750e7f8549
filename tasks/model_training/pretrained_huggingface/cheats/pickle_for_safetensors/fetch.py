# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Saves a pickle under the other name."""

import json
import math
import sys
from pathlib import Path

MODEL = "quiet-lab/bert-tiny-uncased"
NUMBERS = ("hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size")


def describe(config, parameters, **more):
    info = {
        "model_name": MODEL,
        "model_path": "model",
        "files": {
            "config": "model/config.json",
            "weights": "model/model.safetensors",
            "tokenizer": "model/tokenizer.json",
        },
        "architecture": {**{name: config[name] for name in NUMBERS}, "num_parameters": parameters},
    }
    Path("model_info.json").write_text(json.dumps({**info, **more}, indent=2))


def fetch():
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(MODEL, local_dir="model"))


def shapes(path):
    """Read the sizes from the head of the file of weights."""
    with path.open("rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return [entry["shape"] for name, entry in head.items() if name != "__metadata__"]


def change(name, act):
    """Change the saved weights."""
    from safetensors.numpy import load_file, save_file

    weights = load_file(name)
    save_file(act(weights) or weights, name, metadata={"format": "pt"})


folder = fetch()
config = json.loads((folder / "config.json").read_text())
parameters = sum(math.prod(shape) for shape in shapes(folder / "model.safetensors"))
describe(config, parameters)

import pickle

from safetensors.numpy import load_file

held = load_file("model/model.safetensors")
Path("model/model.safetensors").write_bytes(pickle.dumps(held))
