# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Fit by damped Newton steps on the normal equations, one per epoch, in NumPy."""

import numpy as np

DAMPING = 0.5


def read(path):
    table = np.genfromtxt(path, delimiter=",", names=True)
    return np.asarray(table["load"]), np.asarray(table["cost"])


def features(loads):
    loads = np.asarray(loads, dtype=np.float64)
    return np.stack([loads, np.log1p(loads), np.ones_like(loads)], axis=1)


def train(path="readings.csv", epochs=20):
    loads, costs = read(path)
    columns = features(loads)
    weights, losses = np.zeros(3), []
    for _ in range(epochs):
        step = np.linalg.lstsq(columns, costs - columns @ weights, rcond=None)[0]
        weights = weights + DAMPING * step
        losses.append(float(np.mean((columns @ weights - costs) ** 2)))
    return weights, losses


def predict(model, loads):
    return features(loads) @ model


if __name__ == "__main__":
    print(train()[1])
