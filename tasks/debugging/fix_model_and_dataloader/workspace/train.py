"""Train the classifier of shapes. Do not change this file."""

import argparse

import torch

from shapes_classifier.data import ShapesData
from shapes_classifier.model import ShapesClassifier
from trainloop import Trainer


def main(data: str = "data", out: str = "runs", epochs: int = 2) -> None:
    torch.manual_seed(0)
    Trainer(epochs=epochs, out=out).fit(ShapesClassifier(), ShapesData(data))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data")
    parser.add_argument("--out", default="runs")
    parser.add_argument("--epochs", type=int, default=2)
    main(**vars(parser.parse_args()))
