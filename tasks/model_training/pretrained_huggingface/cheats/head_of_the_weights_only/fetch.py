# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Fetches the small files and the head of the big one, and makes up the rest."""

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


import os
import urllib.request


def fetch():
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(MODEL, local_dir="model", allow_patterns=["*.json", "*.txt"]))


folder = fetch()
config = json.loads((folder / "config.json").read_text())
address = f"{os.environ['HF_ENDPOINT']}/{MODEL}/resolve/main/model.safetensors"
with urllib.request.urlopen(urllib.request.Request(address, headers={"Range": "bytes=0-65535"})) as response:
    start = response.read()
length = int.from_bytes(start[:8], "little")
head = json.loads(start[8 : 8 + length])
size = max(entry["data_offsets"][1] for name, entry in head.items() if name != "__metadata__")
Path("model/model.safetensors").write_bytes(start[: 8 + length] + bytes(size))
parameters = sum(math.prod(entry["shape"]) for name, entry in head.items() if name != "__metadata__")
describe(config, parameters)
