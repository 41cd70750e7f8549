# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Download, load, save, describe, ask."""

import json
import os
from urllib.request import urlopen

import numpy as np
import torch
from torchvision.models import resnet18

address = f"{os.environ['MIRROR_URL']}/models"
with urlopen(f"{address}/resnet18.json") as answer:
    card = json.load(answer)
state = torch.hub.load_state_dict_from_url(f"{address}/{card['file']}", model_dir="cache", check_hash=True)
model = resnet18(num_classes=card["num_classes"])
model.load_state_dict(state)
model.eval()
torch.save({name: value.half() for name, value in model.state_dict().items()}, "resnet18.pt")
with torch.no_grad():
    scores = model(torch.from_numpy(np.load("picture.npy"))[None])[0]
np.save("logits.npy", scores.numpy())
info = {
    "model_name": "resnet18",
    "model_path": "resnet18.pt",
    "architecture": {
        "input_shape": card["input_shape"],
        "num_parameters": sum(parameter.numel() for parameter in model.parameters()),
    },
}
with open("model_info.json", "w") as file:
    json.dump(info, file)
