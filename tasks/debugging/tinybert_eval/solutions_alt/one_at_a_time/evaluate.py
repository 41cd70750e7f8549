# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Evaluate a checkpoint, one example at a time: no padding, no mask."""

import argparse
import json

import torch

import tiny_bert
import utils


def answer(model, tokenizer, example, max_length):
    encoded = tokenizer.pair(example["question"], example["passage"], max_length)
    with torch.inference_mode():
        no, yes = model(**{name: torch.tensor([value]) for name, value in encoded.items()})[0]
    return bool(yes > no)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", default="checkpoint")
    parser.add_argument("--data", default="data/validation.jsonl")
    parser.add_argument("--out", default=".")
    options = parser.parse_args()
    model = tiny_bert.load_model(options.checkpoint).train(False)
    tokenizer = utils.Tokenizer(options.checkpoint)
    with open(f"{options.checkpoint}/config.json") as file:
        max_length = json.load(file)["max_length"]
    examples = utils.read_examples(options.data)
    answers = [answer(model, tokenizer, example, max_length) for example in examples]
    right = [given == bool(example["label"]) for given, example in zip(answers, examples)]
    metrics = {"final_val_accuracy": 100 * sum(right) / len(right), "examples": len(right)}
    for name, value in (("metrics", metrics), ("predictions", answers)):
        with open(f"{options.out}/eval_{name}.json", "w") as file:
            json.dump(value, file)


if __name__ == "__main__":
    main()
