"""Accuracy of a checkpoint on the training pictures: `python test_model.py checkpoints/best.pt`. No test set is given."""

import sys

import torch
from model import build
from pictures import load_training_set
from safetensors.torch import load_file

if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "checkpoints/baseline.safetensors"
    model = build()
    model.load_state_dict(load_file(name) if name.endswith(".safetensors") else torch.load(name, weights_only=True))
    model.eval()
    pictures, labels = load_training_set()
    with torch.no_grad():
        right = (torch.cat([model(part) for part in pictures.split(500)]).argmax(1) == labels).float().mean().item()
    print(f"accuracy on the {len(labels)} training pictures: {right:.4f}")
