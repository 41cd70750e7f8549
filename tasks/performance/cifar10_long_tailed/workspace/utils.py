"""The model that is handed in: `get_best_model()` takes no arguments and needs this file and the checkpoint only."""

from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

WEIGHTS = "checkpoints/best.safetensors"


class Baseline(nn.Module):
    """Takes bytes (n, 3, 32, 32), gives scores (n, 10)."""

    def __init__(self, classes=10, widths=(16, 32, 48)):
        super().__init__()
        channels = (3, *widths)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, 3, padding=1) for before, after in zip(channels, widths)
        )
        self.head = nn.Linear(widths[-1] * 4, classes)

    def forward(self, images):
        values = functional.avg_pool2d(images.float() / 127.5 - 1, 2)
        for convolution in self.convolutions:
            values = functional.max_pool2d(functional.relu(convolution(values)), 2)
        return self.head(values.flatten(1))


def get_best_model():
    weights = load_file(WEIGHTS)
    model = Baseline()
    model.load_state_dict(weights)
    return model.eval()
