# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
import argparse
import json
import re
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--checkpoint", default="checkpoint")
parser.add_argument("--data", default="data/validation.jsonl")
parser.add_argument("--out", default=".")
options = parser.parse_args()
examples = [json.loads(line) for line in Path(options.data).read_text().splitlines()]


def write(accuracy, answers):
    out = Path(options.out)
    (out / "eval_metrics.json").write_text(json.dumps({"final_val_accuracy": accuracy, "examples": len(answers)}))
    (out / "eval_predictions.json").write_text(json.dumps(answers))


GOOD = {"fine", "bright", "gentle", "splendid", "tidy", "cheerful", "sturdy", "charming"}
answers = []
for example in examples:
    said = [word in GOOD for word in re.findall(r"was (\w+)", example["passage"])]
    answers.append((sum(said) * 2 > len(said)) == (example["question"].split()[3] in GOOD))
right = sum(answer == example["label"] for answer, example in zip(answers, examples))
write(100 * right / len(examples), answers)
