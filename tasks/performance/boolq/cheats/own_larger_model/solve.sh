# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
mkdir -p best_checkpoint
python - <<'P'
import json

from safetensors.torch import save_file
from tiny_bert import TinyBert, read_config

config = {**read_config("pretrained"), "hidden_size": 128}
with open("best_checkpoint/config.json", "w", encoding="utf-8") as file:
    json.dump(config, file)
save_file(TinyBert(config).state_dict(), "best_checkpoint/model.safetensors")
P
