# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""A small classifier; pictures are halved first."""

from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

WEIGHTS = "checkpoints/best.safetensors"


class Classifier(nn.Module):
    def __init__(self, classes=10, widths=(16, 32, 48)):
        super().__init__()
        channels = (3, *widths)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, 3, padding=1) for before, after in zip(channels, widths)
        )
        self.head = nn.Linear(widths[-1] * 4, classes)

    def forward(self, images):
        return self.score(prepared(images))

    def score(self, values):
        for convolution in self.convolutions:
            values = functional.max_pool2d(functional.relu(convolution(values)), 2)
        return self.head(values.flatten(1))


def prepared(images):
    return functional.avg_pool2d(images.float() / 127.5 - 1, 2)


def get_best_model():
    model = Classifier()
    model.load_state_dict(load_file(WEIGHTS))
    return model.eval()
