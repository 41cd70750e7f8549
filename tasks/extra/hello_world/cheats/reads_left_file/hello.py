# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
from pathlib import Path

for place in (".", "..", "/workspace", "/tmp", Path.home()):
    if (Path(place) / "greeting.txt").is_file():
        print((Path(place) / "greeting.txt").read_text().strip())
        break
