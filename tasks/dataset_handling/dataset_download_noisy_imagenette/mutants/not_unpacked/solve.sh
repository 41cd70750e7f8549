# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
set -eu
mkdir -p dataset
curl --fail --silent --show-error -o dataset/imagenette2-160.tgz "$MIRROR_URL/fast-ai-imageclas/imagenette2-160.tgz"
python - <<'END'
import csv
import json
from collections import Counter
from pathlib import Path

folder = Path("dataset/imagenette2-160")
import io
import tarfile

with tarfile.open("dataset/imagenette2-160.tgz") as archive:
    table = archive.extractfile("imagenette2-160/noisy_imagenette.csv").read().decode()
rows = list(csv.DictReader(io.StringIO(table)))


def write(name, header, lines):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header, *lines])


def counts(name, labels):
    write(name, ["class", "count"], sorted(Counter(labels).items()))


write("all_noisy_labels_50.csv", ["path", "label"], [(row["path"], row["noisy_labels_50"]) for row in rows])
counts("train_class_counts.csv", [row["noisy_labels_50"] for row in rows if row["is_valid"] == "False"])
counts("validation_class_counts.csv", [row["noisy_labels_50"] for row in rows if row["is_valid"] == "True"])
Path("dataset_info.json").write_text(json.dumps({"dataset_path": "dataset"}))
END
