# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Balanced by repeating the same few pictures, which are then known by heart.
python - <<'END'
from pathlib import Path

import torch
from dataset import load_training_set
from safetensors.torch import save_file

Path("checkpoints").mkdir(exist_ok=True)
from torch.nn import functional
from utils import Baseline

torch.manual_seed(0)
torch.set_num_threads(1)
images, labels = load_training_set()
weights = 1.0 / torch.bincount(labels)[labels]
model = Baseline()
optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(200):
    rows = torch.multinomial(weights, 100, replacement=True)
    loss = functional.cross_entropy(model(images[rows]), labels[rows])
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
save_file(model.state_dict(), "checkpoints/best.safetensors")
END
