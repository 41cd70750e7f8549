import torch
from safetensors.torch import load_file, save_file

given = load_file("points.safetensors")
direction = torch.linalg.lstsq(given["points"], (2 * given["kinds"] - 1)[:, None]).solution[:, 0]
save_file({"direction": direction.contiguous()}, "weights.safetensors")
