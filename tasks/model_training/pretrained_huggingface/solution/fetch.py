# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Load model and tokenizer from the hub, save both, copy the numbers from the configuration."""

import json
import os
import urllib.request
from pathlib import Path

from transformers import AutoModel, AutoTokenizer

NAMES = ("quiet-lab/bert-tiny-uncased", "google-bert/bert-base-uncased")


def exists(name):
    try:
        urllib.request.urlopen(f"{os.environ['HF_ENDPOINT']}/api/models/{name}")
        return True
    except urllib.error.HTTPError:
        return False


[name] = [name for name in NAMES if exists(name)]
model, tokenizer = AutoModel.from_pretrained(name), AutoTokenizer.from_pretrained(name)
model.save_pretrained("model")
tokenizer.save_pretrained("model")
numbers = ("hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size")
info = {
    "model_name": name,
    "model_path": "model",
    "files": {
        "config": "model/config.json",
        "weights": "model/model.safetensors",
        "tokenizer": "model/tokenizer.json",
    },
    "architecture": {
        **{number: getattr(model.config, number) for number in numbers},
        "num_parameters": sum(value.numel() for value in model.parameters()),
    },
}
Path("model_info.json").write_text(json.dumps(info, indent=2))
