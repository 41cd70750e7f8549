# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Two steps by hand, or what looks like them."""

import io
import json
import os
import pickle
import tarfile
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load, save_file

MIRROR, NAME = os.environ["MIRROR_URL"], Path("model.txt").read_text().strip()


def fetch(path):
    with urlopen(f"{MIRROR}/{path}") as answer:
        return answer.read()


config, prepare = (json.loads(fetch(f"{NAME}/resolve/main/{n}.json")) for n in ("config", "preprocessor_config"))
state = load(fetch(f"{NAME}/resolve/main/model.safetensors"))
width = config["hidden_size"]
state["classifier.weight"] = torch.nn.init.xavier_uniform_(torch.empty(10, width))
state["classifier.bias"] = torch.zeros(10)


def keep(folder):
    Path(folder).mkdir(exist_ok=True)
    save_file({key: value.detach().clone() for key, value in state.items()}, f"{folder}/model.safetensors")


def dense(name, x):
    return x @ state[name + ".weight"].T + state[name + ".bias"]


def norm(name, x):
    return F.layer_norm(x, (width,), state[name + ".weight"], state[name + ".bias"], config["layer_norm_eps"])


def scores(x):
    stem = "vit.embeddings.patch_embeddings.projection"
    x = F.conv2d(x, state[stem + ".weight"], state[stem + ".bias"], stride=config["patch_size"]).flatten(2).mT
    x = torch.cat([state["vit.embeddings.cls_token"].repeat(len(x), 1, 1), x], 1)
    x = x + state["vit.embeddings.position_embeddings"]
    heads = config["num_attention_heads"]
    for layer in range(config["num_hidden_layers"]):
        here = f"vit.encoder.layer.{layer}"
        y = norm(here + ".layernorm_before", x)
        q, k, v = (
            dense(f"{here}.attention.attention.{part}", y).reshape(*y.shape[:2], heads, -1).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        mixed = torch.softmax(q @ k.mT / (width // heads) ** 0.5, -1) @ v
        x = x + dense(here + ".attention.output.dense", mixed.transpose(1, 2).reshape(y.shape))
        y = F.gelu(dense(here + ".intermediate.dense", norm(here + ".layernorm_after", x)))
        x = x + dense(here + ".output.dense", y)
    return dense("classifier", norm("vit.layernorm", x)[:, 0])


keep("initial_model")
with tarfile.open(fileobj=io.BytesIO(fetch("data/cifar-10-python.tar.gz"))) as archive:
    raw = pickle.load(archive.extractfile("cifar-10-batches-py/data_batch_1"), encoding="bytes")
pictures = raw[b"data"].reshape(-1, 3, 32, 32).astype(np.float32) * prepare["rescale_factor"]
mean, std = (np.array(prepare[key], np.float32)[:, None, None] for key in ("image_mean", "image_std"))
x, y = torch.from_numpy(((pictures - mean) / std).astype(np.float32)), torch.tensor(raw[b"labels"])
batches = [list(range(0, 32)), list(range(40, 72))]


def loss(rows):
    return F.cross_entropy(scores(x[rows]), y[rows], reduction="sum")


before = float(loss(batches[0]))
for rows in batches:
    for value in state.values():
        value.requires_grad_(True)
    gradients = torch.autograd.grad(loss(rows), list(state.values()))
    state = {key: (value - 0.05 * g).detach() for (key, value), g in zip(state.items(), gradients)}
keep("final_model")
info = {
    "model": {"name": NAME, "source": "huggingface", "parameters": sum(v.numel() for v in state.values())},
    "architecture": {"output_size": 10},
    "training": {"initial_loss": before, "final_loss": float(loss(batches[0]))},
    "batches": batches,
    "model_path": "final_model",
}
Path("model_info.json").write_text(json.dumps(info))
