# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The obvious recipe: fine-tune on all labelled questions with warm-up, decay and dropout; keep the best epoch."""

import json
import random
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from tiny_bert import Tokenizer, load_model, read_config
from torch.nn import functional

EPOCHS, BATCH, RATE = 6, 48, 1.5e-3


def read(name):
    return [json.loads(line) for line in Path(f"data/{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def inputs(tokenizer, examples):
    return tokenizer.batch([(example["question"], example["passage"]) for example in examples])


def labels(examples):
    return torch.tensor([int(example["label"]) for example in examples])


def main(patience):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    tokenizer = Tokenizer("pretrained", read_config("pretrained")["max_length"])
    model = load_model("pretrained")
    questions = read("train")
    random.shuffle(questions)
    training, validation = questions[80:], questions[:80]
    epochs, best = EPOCHS * patience, -1.0
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    steps = epochs * -(-len(training) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps, pct_start=0.2)
    Path("best_checkpoint").mkdir(exist_ok=True)
    for epoch in range(epochs):
        random.shuffle(training)
        model.train()
        for start in range(0, len(training), BATCH):
            some = training[start : start + BATCH]
            loss = functional.cross_entropy(model(*inputs(tokenizer, some)), labels(some))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        model.eval()
        with torch.no_grad():
            found = float((model(*inputs(tokenizer, validation)).argmax(1) == labels(validation)).float().mean())
        print(epoch + 1, round(loss.item(), 3), found, flush=True)
        if found > best:
            best = found
            save_file(model.state_dict(), "best_checkpoint/model.safetensors")


if __name__ == "__main__":
    main(int(sys.argv[1]))
