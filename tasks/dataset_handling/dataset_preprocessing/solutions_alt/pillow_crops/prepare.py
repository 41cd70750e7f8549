# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The same with pillow: shifts by padded crops, and colour changes."""

import json
import pickle
import random
from pathlib import Path

import numpy as np
from PIL import Image, ImageEnhance, ImageOps


def as_array(picture):
    return ((np.asarray(picture, dtype=np.float64) - 127.5) / 127.5).transpose(2, 0, 1).astype(np.float32)


def vary(picture):
    padded = ImageOps.expand(picture, 4, fill=(128, 128, 128))
    left, top = random.choice([(x, y) for x in range(9) for y in range(9) if (x, y) != (4, 4)])
    picture = padded.crop((left, top, left + 32, top + 32))
    if random.random() < 0.5:
        picture = ImageOps.mirror(picture)
    for change in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        picture = change(picture).enhance(random.uniform(0.75, 1.25))
    return picture.rotate(random.uniform(-6, 6), resample=Image.Resampling.BILINEAR)


rows = pickle.loads(Path("data/cifar-10-batches-py/data_batch_1").read_bytes(), encoding="latin1")["data"]
for folder in ("preprocessed", "augmented"):
    Path(folder).mkdir()
for number in range(10):
    picture = Image.fromarray(rows[number].reshape(3, 32, 32).transpose(1, 2, 0))
    np.save(f"preprocessed/image_{number}.npy", as_array(picture))
    for version in range(1, 4):
        np.save(f"augmented/image_{number}_v{version}.npy", as_array(vary(picture)))
block = {"image_count": 10, "versions_per_image": 3, "mean": [0.5] * 3, "std": [0.5] * 3, "library": "pillow"}
info = {"dataset": "CIFAR-10", "preprocessing": block, "preprocessed_data_path": "preprocessed"}
info["augmented_data_path"] = "augmented"
Path("preprocessing_info.json").write_text(json.dumps(info), encoding="utf-8")
