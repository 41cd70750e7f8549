# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""A new head for the hub's model, then two steps."""

import json
import os
import pickle
import tarfile
import urllib.request
from pathlib import Path

import torch
from huggingface_hub import hf_hub_download
from torch import nn
from transformers import ViTForImageClassification

name = Path("model.txt").read_text().strip()
torch.manual_seed(1)
model = ViTForImageClassification.from_pretrained(name, num_labels=10, ignore_mismatched_sizes=True)
model.save_pretrained("initial_model")

urllib.request.urlretrieve(f"{os.environ['MIRROR_URL']}/data/cifar-10-python.tar.gz", "cifar.tar.gz")
with tarfile.open("cifar.tar.gz") as files:
    batch = pickle.load(files.extractfile("cifar-10-batches-py/data_batch_1"), encoding="latin1")
with open(hf_hub_download(name, "preprocessor_config.json")) as file:
    prepare = json.load(file)
mean, std = (torch.tensor(prepare[key]).view(3, 1, 1) for key in ("image_mean", "image_std"))
images = torch.from_numpy(batch["data"]).view(-1, 3, 32, 32) * prepare["rescale_factor"]
images, labels = (images - mean) / std, torch.tensor(batch["labels"])
rows = torch.randperm(len(labels))[:64].view(2, 32)


def loss_of(part):
    return nn.functional.cross_entropy(model(pixel_values=images[part]).logits, labels[part])


optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
with torch.no_grad():
    initial_loss = loss_of(rows[0]).item()
for part in rows:
    optimizer.zero_grad()
    loss_of(part).backward()
    optimizer.step()
with torch.no_grad():
    final_loss = loss_of(rows[0]).item()
model.save_pretrained("final_model")
info = {
    "model": {"name": name, "source": "huggingface", "parameters": sum(p.numel() for p in model.parameters())},
    "architecture": {"output_size": model.config.num_labels},
    "training": {"initial_loss": initial_loss, "final_loss": final_loss},
    "batches": rows.tolist(),
    "model_path": "final_model",
}
with open("model_info.json", "w") as file:
    json.dump(info, file)
