# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""How the baseline was made: the given script on other pictures, as many as an instance has, classes in NAMES' order.

Run with the harness's Python.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from mldevbench.material.cifar_split import write_training_batches
from mldevbench.material.shapes import NAMES, draw_pictures

WORKSPACE = Path(__file__).parent.parent / "workspace"
PICTURES, EPOCHS, SIZES = 200, 150, {"widths": [12, 24, 48], "pool": 2}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for path in WORKSPACE.glob("*.py"):
            shutil.copyfile(path, place / path.name)
        (place / "model.json").write_text(json.dumps(SIZES), encoding="utf-8")
        write_training_batches(place / "data", draw_pictures(np.random.default_rng(25), PICTURES), NAMES)
        subprocess.run([sys.executable, "train_baseline.py", "--epochs", str(EPOCHS)], cwd=place, check=True)
        weights = torch.load(place / "checkpoints" / "best.pt", weights_only=True)
    save_file(weights, WORKSPACE / "checkpoints" / "baseline.safetensors")


if __name__ == "__main__":
    main()
