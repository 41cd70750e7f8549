# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
set -eu
name=quiet-lab/bert-tiny-uncased
mkdir -p model
for file in config.json model.safetensors tokenizer.json tokenizer_config.json; do
    curl --fail --silent --show-error --location -o "model/$file" "$MIRROR_URL/$name/resolve/main/$file"
done
python - "$name" <<'END'
import json
import sys

from safetensors import safe_open

config = json.load(open("model/config.json"))
with safe_open("model/model.safetensors", "np") as file:
    count = sum(file.get_tensor(key).size for key in file.keys())
keys = ["hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size"]
json.dump({
    "model_name": sys.argv[1],
    "model_path": "./model/",
    "files": {"config": "model/config.json", "weights": "model/model.safetensors", "tokenizer": "model/tokenizer.json"},
    "architecture": {key: config[key] for key in keys} | {"num_parameters": count},
    "framework": "pt",
}, open("model_info.json", "w"))
END
