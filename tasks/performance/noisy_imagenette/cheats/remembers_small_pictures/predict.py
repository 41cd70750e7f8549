# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Return the label of the most similar picture, made smaller, of the training set."""

import numpy as np
from PIL import Image


def predict(paths):
    known = np.load("model/all.npz")
    pictures = known["pictures"].reshape(len(known["labels"]), -1).astype(np.float32)
    answers = []
    for path in paths:
        picture = np.asarray(Image.open(path).convert("L").resize((8, 8)), np.float32).ravel()
        answers.append(int(known["labels"][np.abs(pictures - picture).sum(1).argmin()]))
    return answers
