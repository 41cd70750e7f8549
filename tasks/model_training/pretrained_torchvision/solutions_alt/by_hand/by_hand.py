# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The file was fetched by curl; the network comes from timm, which has torchvision's names."""

import hashlib
import json
import pathlib

import numpy as np
import timm
import torch

about = json.loads(pathlib.Path("card.json").read_text())
raw = pathlib.Path(about["file"]).read_bytes()
assert hashlib.sha256(raw).hexdigest().startswith(about["file"].split("-")[1].split(".")[0])
weights = torch.load(about["file"], weights_only=True)
torch.save(dict(weights), "resnet18.pt")
network = timm.create_model("resnet18", num_classes=about["num_classes"])
network.load_state_dict(weights, strict=True)
network.train(False)
given = torch.tensor(np.load("picture.npy")).unsqueeze(0)
with torch.inference_mode():
    np.save("logits.npy", network(given).squeeze(0).numpy().astype("float32"))
count = sum(value.numel() for name, value in weights.items() if name.endswith((".weight", ".bias")))
described = {"input_shape": about["input_shape"], "num_parameters": count}
told = {"model_name": "resnet18", "model_path": "resnet18.pt", "architecture": described}
pathlib.Path("model_info.json").write_text(json.dumps(told))
