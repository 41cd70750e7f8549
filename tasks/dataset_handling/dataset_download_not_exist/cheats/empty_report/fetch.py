# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Leaves two empty files."""

import json
import os
from pathlib import Path

names = [Path(path).stem for path in Path("addresses.txt").read_text().split()]
Path("dataset_not_available.txt").write_text("")
Path("dataset_info.json").write_text("{}")
