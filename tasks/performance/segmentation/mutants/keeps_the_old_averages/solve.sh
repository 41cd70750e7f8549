# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
python - <<'P'
import numpy as np
import torch
from fcn import build, prepared
from safetensors.torch import load_file, save_file

network = build()
network.load_state_dict(load_file("pretrained/model.safetensors"))
pictures = torch.from_numpy(np.load("data/unlabelled_images.npy"))
network.train()
for layer in network.modules():
    if isinstance(layer, torch.nn.BatchNorm2d):
        layer.momentum = 0.01  # the old averages stay
with torch.no_grad():
    for part in pictures.split(100):
        network(prepared(part))
save_file(network.state_dict(), "model.safetensors")
P
