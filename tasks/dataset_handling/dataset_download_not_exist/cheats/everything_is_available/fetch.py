# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Invents all four."""

import json
import os
from pathlib import Path

names = [Path(path).stem for path in Path("addresses.txt").read_text().split()]
info = {}
for name in names:
    os.makedirs(f"datasets/{name}")
    for number in range(3):
        Path(f"datasets/{name}/part-{number:02d}.csv").write_text("site,day,value,label\n1,1,1.00,1\n")
    info[name] = {"dataset_path": f"datasets/{name}", "files": 3, "sha256": "0" * 64}
Path("dataset_info.json").write_text(json.dumps(info))
Path("dataset_not_available.txt").write_text("")
