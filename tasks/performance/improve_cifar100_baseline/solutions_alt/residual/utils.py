# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""A compact residual classifier; pictures are halved first."""

from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

WEIGHTS = "best_checkpoint/weights.safetensors"


class Classifier(nn.Module):
    def __init__(self, classes, widths=(16, 32, 64)):
        super().__init__()
        first, second, third = widths
        self.stem = nn.Sequential(nn.Conv2d(3, first, 3, padding=1), nn.BatchNorm2d(first))
        self.middle = nn.Sequential(nn.Conv2d(first, second, 3, padding=1), nn.BatchNorm2d(second))
        self.last = nn.Sequential(nn.Conv2d(second, third, 3, padding=1), nn.BatchNorm2d(third))
        self.again = nn.Sequential(nn.Conv2d(third, third, 3, padding=1), nn.BatchNorm2d(third))
        self.head = nn.Linear(third * 4, classes)

    def forward(self, images):
        return self.score(prepared(images))

    def score(self, values):
        values = functional.max_pool2d(functional.relu(self.stem(values)), 2)
        values = functional.max_pool2d(functional.relu(self.middle(values)), 2)
        values = functional.relu(self.last(values))
        values = values + functional.relu(self.again(values))
        return self.head(functional.max_pool2d(values, 2).flatten(1))


def prepared(images):
    return functional.avg_pool2d(images.float() / 127.5 - 1, 2)


def get_best_model():
    weights = load_file(WEIGHTS)
    model = Classifier(classes=len(weights["head.bias"]))
    model.load_state_dict(weights, strict=False)
    return model.eval()
