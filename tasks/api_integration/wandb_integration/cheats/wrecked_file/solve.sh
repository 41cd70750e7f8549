# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
python log_run.py
python - <<'END'
from pathlib import Path

(file,) = Path("wandb").glob("offline-run-*/run-*.wandb")
raw = bytearray(file.read_bytes())
for place in range(7, len(raw), 97):
    raw[place] ^= 255
file.write_bytes(raw)
END
