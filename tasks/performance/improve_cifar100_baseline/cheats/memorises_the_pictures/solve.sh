# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Perfect on every picture that was given, learnt without any variation of them.
python - <<'END'
from pathlib import Path

import torch
from pictures import class_count, load_training_set
from safetensors.torch import save_file

Path("best_checkpoint").mkdir(exist_ok=True)
from torch.nn import functional
from utils import Baseline

torch.manual_seed(0)
torch.set_num_threads(1)
images, labels, _ = load_training_set()
model = Baseline(class_count())
optimiser = torch.optim.Adam(model.parameters(), lr=4e-3)
for _ in range(40):
    for rows in torch.randperm(len(labels)).split(100):
        loss = functional.cross_entropy(model(images[rows]), labels[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
save_file(model.state_dict(), "best_checkpoint/weights.safetensors")
END
