# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
python - <<'P'
import os

from safetensors.torch import load_file, save_file

weights = {name: value for name, value in load_file("pretrained/model.safetensors").items() if "classifier" not in name}
os.makedirs("best_checkpoint", exist_ok=True)
save_file(weights, "best_checkpoint/model.safetensors")
P
