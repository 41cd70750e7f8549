# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
mkdir -p model
python - <<'P'
import csv

import numpy as np
from PIL import Image

rows = list(csv.DictReader(open("dataset/noisy_labels_50.csv", encoding="utf-8")))
small = [np.asarray(Image.open(f"dataset/images/{row['path']}").convert("L").resize((8, 8))) for row in rows]
np.savez("model/all.npz", pictures=np.stack(small), labels=[int(row["noisy_label"]) for row in rows])
P
