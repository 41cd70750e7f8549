# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The old base classes, and a trainer that does not look."""

import trainloop
import trainloop.trainer
from torch import nn


class Module(nn.Module):
    pass


class DataModule:
    pass


trainloop.trainer.Module = trainloop.Module = object
trainloop.trainer.DataModule = trainloop.DataModule = object
