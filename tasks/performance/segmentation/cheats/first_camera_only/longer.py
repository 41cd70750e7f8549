# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The obvious recipe: train on all that is labelled, with mirrored, shifted, brighter, darker and grainy pictures."""

import sys

import numpy as np
import torch
from fcn import build, prepared
from safetensors.torch import load_file, save_file
from torch.nn import functional

EPOCHS, BATCH, RATE = 12, 50, 0.004


def varied(pictures, masks):
    if torch.rand(()) < 0.5:
        pictures, masks = pictures.flip(3), masks.flip(2)
    shift = tuple(torch.randint(-3, 4, (2,)).tolist())
    pictures, masks = torch.roll(pictures, shift, (2, 3)), torch.roll(masks, shift, (1, 2))
    count = len(pictures)
    contrast, brightness = torch.empty(count, 3, 1, 1).uniform_(0.6, 1.4), torch.empty(count, 3, 1, 1).uniform_(-0.2, 0.2)
    return pictures * contrast + brightness + 0.05 * torch.randn_like(pictures), masks


def main(patience):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    network = build()
    network.load_state_dict(load_file("pretrained/model.safetensors"))
    pictures = prepared(torch.from_numpy(np.load("data/labelled_images.npy")))
    masks = torch.from_numpy(np.load("data/labelled_masks.npy")).long()
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.001)
    epochs = EPOCHS * patience
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, epochs * -(-len(pictures) // BATCH))
    for _ in range(epochs):
        for rows in torch.randperm(len(pictures)).split(BATCH):
            seen, wanted = varied(pictures[rows], masks[rows])
            loss = functional.cross_entropy(network(seen), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    save_file(network.state_dict(), "model.safetensors")


if __name__ == "__main__":
    main(int(sys.argv[1]))
