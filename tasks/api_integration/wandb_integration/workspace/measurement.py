"""What an evaluation of one epoch measures. Do not change this file."""

import hashlib
import json
from pathlib import Path


def settings():
    """Return the settings of this evaluation."""
    return json.loads(Path("settings.json").read_text(encoding="utf-8"))


def measure(run_id, epoch):
    """Return training loss and validation loss of an epoch; every run measures other values."""
    return values(settings()["key"], run_id, epoch)


def values(key, run_id, epoch):
    parts = [hashlib.sha256(f"{key} {run_id} {epoch} {name}".encode()).digest() for name in ("training", "validation")]
    shares = [int.from_bytes(part[:6], "big") / 2**48 for part in parts]
    training = 2 / (1 + epoch) + 0.3 * shares[0]
    return round(training, 6), round(training * (1.05 + 0.2 * shares[1]), 6)
