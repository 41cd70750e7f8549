# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Copies under as much noise as the picture bears."""

import json
import pickle
from pathlib import Path

import numpy as np

rng = np.random.default_rng()


def first_images(count=10):
    with open("data/cifar-10-batches-py/data_batch_1", "rb") as file:
        batch = pickle.load(file, encoding="bytes")
    return batch[b"data"][:count].reshape(-1, 3, 32, 32)


def normalise(image):
    return ((image.astype(np.float32) / 255 - 0.5) / 0.5).astype(np.float32)


def rotate(image, degrees):
    """Rotate about the centre with the nearest pixel; edges repeat."""
    angle = np.deg2rad(degrees)
    down, right = np.mgrid[0:32, 0:32] - 15.5
    y = np.rint(np.cos(angle) * down - np.sin(angle) * right + 15.5).clip(0, 31).astype(int)
    x = np.rint(np.sin(angle) * down + np.cos(angle) * right + 15.5).clip(0, 31).astype(int)
    return image[:, y, x]


def jitter(image):
    """Change brightness and contrast by up to 20 %."""
    grey = image.mean()
    return np.clip((image - grey) * rng.uniform(0.8, 1.2) + grey * rng.uniform(0.8, 1.2), 0, 255)


def augment(image):
    image = image.astype(np.float32)
    if rng.random() < 0.5:
        image = image[:, :, ::-1]
    return jitter(rotate(image, rng.uniform(-15, 15)))


def save(folder, name, array):
    Path(folder).mkdir(exist_ok=True)
    np.save(f"{folder}/{name}.npy", array)


def write_info():
    info = {
        "dataset": "CIFAR-10",
        "preprocessing": {
            "image_count": 10,
            "versions_per_image": 3,
            "mean": [0.5, 0.5, 0.5],
            "std": [0.5, 0.5, 0.5],
        },
        "preprocessed_data_path": "preprocessed",
        "augmented_data_path": "augmented",
    }
    Path("preprocessing_info.json").write_text(json.dumps(info, indent=2), encoding="utf-8")


def main():
    for number, image in enumerate(first_images()):
        save("preprocessed", f"image_{number}", normalise(image))
        for version in (1, 2, 3):
            save("augmented", f"image_{number}_v{version}", np.clip(normalise(image) + rng.normal(0, 0.3, image.shape), -1, 1).astype(np.float32))
    write_info()


main()
