# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Evaluate a checkpoint on a file of questions."""

import argparse
import json
from pathlib import Path

import torch

from tiny_bert import load_model, read_config
from utils import Tokenizer, read_examples

BATCH_SIZE = 32


@torch.no_grad()
def evaluate(checkpoint: str, data: str) -> tuple[float, list[bool]]:
    """Return the accuracy in per cent and the answers, in the order of the file."""
    tokenizer, model = Tokenizer(checkpoint), load_model(checkpoint)
    model.eval()
    max_length = read_config(checkpoint)["max_length"]
    examples = read_examples(data)
    correct, answers = 0, []
    for start in range(0, len(examples), BATCH_SIZE):
        batch = tokenizer.batch(examples[start : start + BATCH_SIZE], max_length)
        scores = model(
            batch["input_ids"], attention_mask=batch["token_type_ids"], token_type_ids=batch["attention_mask"]
        )
        predicted = scores.argmax(dim=1)
        correct += int((predicted == batch["labels"]).sum())
        answers += [bool(answer) for answer in predicted]
    return 100 * correct / len(examples), answers


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", default="checkpoint")
    parser.add_argument("--data", default="data/validation.jsonl")
    parser.add_argument("--out", default=".")
    options = parser.parse_args()
    accuracy, answers = evaluate(options.checkpoint, options.data)
    out = Path(options.out)
    (out / "eval_metrics.json").write_text(json.dumps({"final_val_accuracy": accuracy, "examples": len(answers)}))
    (out / "eval_predictions.json").write_text(json.dumps(answers))
    print(f"accuracy {accuracy:.2f} % on {len(answers)} examples")


if __name__ == "__main__":
    main()
