# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# The given model, never trained.
python - <<'END'
from pathlib import Path

import torch
from pictures import class_count, load_training_set
from safetensors.torch import save_file

Path("best_checkpoint").mkdir(exist_ok=True)
from utils import Baseline

torch.manual_seed(1)
save_file(Baseline(class_count()).state_dict(), "best_checkpoint/weights.safetensors")
END
