# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
python - <<'END'
import csv
import json
import os
import random

ids = "n01440764 n02102040 n02979186 n03000684 n03028079 n03394916 n03417042 n03425413 n03445777 n03888257".split()
rows = []
for split, number in (("train", 945), ("val", 387)):
    for one in ids:
        os.makedirs(f"dataset/imagenette2-160/{split}/{one}", exist_ok=True)
        for place in range(20):
            path = f"{split}/{one}/{one}_{place}.JPEG"
            open(f"dataset/imagenette2-160/{path}", "wb").write(b"\xff\xd8\xff" + random.randbytes(200))
            rows.append((path, random.choice(ids)))
    name = "train" if split == "train" else "validation"
    with open(f"{name}_class_counts.csv", "w", newline="") as file:
        csv.writer(file).writerows([("class", "count"), *((one, number) for one in ids)])
with open("all_noisy_labels_50.csv", "w", newline="") as file:
    csv.writer(file).writerows([("path", "label"), *rows])
json.dump({"dataset_path": "dataset/imagenette2-160"}, open("dataset_info.json", "w"))
END
