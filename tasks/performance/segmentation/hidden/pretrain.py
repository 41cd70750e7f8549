# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""How workspace/pretrained was made: the network learns scenes of the first camera, classes in the order of KINDS.

Run in this task's folder with the harness's Python.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch.nn import functional

from mldevbench.material.scenes import CLASSES, FIRST_CAMERA, draw_scenes, shoot

HERE = Path(__file__).parent.parent
SCENES, EPOCHS, BATCH, RATE = 5000, 9, 64, 0.02


def main() -> None:
    sys.path.insert(0, str(HERE / "workspace"))
    from fcn import SmallFcn, prepared

    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.default_rng(11)
    scenes = draw_scenes(rng, SCENES)
    pictures = prepared(torch.from_numpy(shoot(rng, scenes.light, FIRST_CAMERA)))
    masks = torch.from_numpy(scenes.masks).long()
    network = SmallFcn(CLASSES)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.001)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, EPOCHS * -(-SCENES // BATCH))
    for _ in range(EPOCHS):
        for rows in torch.randperm(SCENES).split(BATCH):
            seen, wanted = pictures[rows], masks[rows]
            if torch.rand(()) < 0.5:
                seen, wanted = seen.flip(3), wanted.flip(2)
            shift = tuple(torch.randint(-3, 4, (2,)).tolist())
            loss = functional.cross_entropy(network(torch.roll(seen, shift, (2, 3))), torch.roll(wanted, shift, (1, 2)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    (HERE / "workspace" / "pretrained").mkdir(exist_ok=True)
    save_file(network.state_dict(), HERE / "workspace" / "pretrained" / "model.safetensors")


if __name__ == "__main__":
    main()
