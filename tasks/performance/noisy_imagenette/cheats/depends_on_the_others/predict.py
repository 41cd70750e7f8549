# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Rank the pictures of a list by brightness and cut the ranks into eight equal classes."""

import numpy as np
from PIL import Image


def predict(paths):
    light = [np.asarray(Image.open(path), float).mean() for path in paths]
    return (np.argsort(np.argsort(light)) * 8 // len(light)).tolist()
