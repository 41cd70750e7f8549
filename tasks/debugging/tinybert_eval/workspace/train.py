"""The program that trained the checkpoint and wrote train_logs.txt. Do not change this file."""

import argparse
import json
import random
import time
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from tiny_bert import TinyBert
from utils import Tokenizer, read_examples

CONFIG = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "hidden_dropout_prob": 0.1,
    "max_position_embeddings": 64,
    "max_length": 64,
}
BATCH_SIZE = 64


def forward(model: nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    inputs = {name: value for name, value in batch.items() if name != "labels"}
    return model(**inputs)


def run_validation(model: nn.Module, tokenizer: Tokenizer, examples: list[dict], max_length: int) -> float:
    """Return the share of right answers, in per cent."""
    model.eval()
    correct = 0
    with torch.no_grad():
        for start in range(0, len(examples), BATCH_SIZE):
            batch = tokenizer.batch(examples[start : start + BATCH_SIZE], max_length)
            correct += int((forward(model, batch).argmax(dim=1) == batch["labels"]).sum())
    model.train()
    return 100 * correct / len(examples)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--train", default="data/train.jsonl")
    parser.add_argument("--validation", default="data/validation.jsonl")
    parser.add_argument("--vocabulary", default="checkpoint")
    parser.add_argument("--out", default="runs/latest")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    random.seed(options.seed)
    tokenizer = Tokenizer(options.vocabulary)
    config = {**CONFIG, "vocab_size": len(tokenizer.ids)}
    training, validation = read_examples(options.train), read_examples(options.validation)
    model = TinyBert(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    steps = options.epochs * -(-len(training) // BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, steps)
    for epoch in range(1, options.epochs + 1):
        random.shuffle(training)
        started = time.time()
        for start in range(0, len(training), BATCH_SIZE):
            batch = tokenizer.batch(training[start : start + BATCH_SIZE], config["max_length"])
            loss = nn.functional.cross_entropy(forward(model, batch), batch["labels"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            if start // BATCH_SIZE % 25 == 0:
                print(f"epoch {epoch:2d} | step {start // BATCH_SIZE:3d} | loss {loss.item():.4f}", flush=True)
        accuracy = run_validation(model, tokenizer, validation, config["max_length"])
        print(f"epoch {epoch:2d} | {time.time() - started:.1f} s | val_accuracy {accuracy:.2f}", flush=True)

    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), out / "model.safetensors")
    (out / "config.json").write_text(json.dumps(config, indent=2))


if __name__ == "__main__":
    main()
