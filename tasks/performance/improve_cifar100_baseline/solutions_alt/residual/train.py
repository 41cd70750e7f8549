# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train with pictures that are turned, moved, scaled and recoloured anew at every step."""

from pathlib import Path

import torch
from pictures import class_count, load_training_set
from safetensors.torch import save_file
from torch.nn import functional
from utils import WEIGHTS, Classifier, prepared

EPOCHS, BATCH, RATE = 60, 100, 8e-3


def varied(pictures):
    """Neither place, tilt and size of a shape nor its colours make its class."""
    count = len(pictures)
    tilt, scale = (torch.rand(2, count) * 2 - 1) * torch.tensor([[0.3], [0.12]])
    move = (torch.rand(2, count) * 2 - 1) * 0.2
    cos, sin = torch.cos(tilt) * (1 + scale), torch.sin(tilt) * (1 + scale)
    maps = torch.stack([cos, -sin, move[0], sin, cos, move[1]], 1).view(count, 2, 3)
    grid = functional.affine_grid(maps, list(pictures.shape), align_corners=False)
    turned = functional.grid_sample(pictures, grid, padding_mode="reflection", align_corners=False)
    channels = torch.rand(count, 3).argsort(1)[:, :, None, None].expand_as(turned)
    signs = torch.randint(0, 2, (count, 3, 1, 1)) * 2 - 1
    return turned.gather(1, channels) * signs


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    images, labels, _ = load_training_set()
    pictures = prepared(images)
    model = Classifier(class_count())
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=0.02)
    steps = len(labels) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=EPOCHS * steps, pct_start=0.2)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(labels)).split(BATCH)[:steps]:
            loss = functional.cross_entropy(model.score(varied(pictures[rows])), labels[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    Path(WEIGHTS).parent.mkdir(exist_ok=True)
    save_file({name: value for name, value in model.state_dict().items() if "num_batches" not in name}, WEIGHTS)


if __name__ == "__main__":
    main()
