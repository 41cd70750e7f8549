# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Makes files of the right names."""

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


config = {"hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 30522}
Path("model").mkdir()
for name in ("config.json", "tokenizer.json", "model.safetensors"):
    (Path("model") / name).write_text(json.dumps(config))
describe(config, 109482240)
