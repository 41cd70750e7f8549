# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
set -eu
wget --quiet "$MIRROR_URL/fast-ai-imageclas/imagenette2-160.tgz"
python - <<'END'
import json
import os
import tarfile

import pandas as pd

with tarfile.open("imagenette2-160.tgz") as archive:
    archive.extractall("dataset", filter="data")
os.remove("imagenette2-160.tgz")
[table] = [name for name in os.listdir("dataset/imagenette2-160") if name.endswith(".csv")]
frame = pd.read_csv(f"dataset/imagenette2-160/{table}").rename(columns={"noisy_labels_50": "label"})
frame[["label", "path"]].sort_values("path").to_csv("all_noisy_labels_50.csv", index=False)
for name, part in (("train", frame[~frame.is_valid]), ("validation", frame[frame.is_valid])):
    part.label.value_counts().rename_axis("class").reset_index(name="count").to_csv(f"{name}_class_counts.csv", index=False)
with open("dataset_info.json", "w") as file:
    json.dump({"dataset_path": "./dataset/imagenette2-160/", "images": len(frame)}, file)
END
