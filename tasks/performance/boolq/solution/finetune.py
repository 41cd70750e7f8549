# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Fine-tune with the words that give answers away exchanged at random, so that the rule itself must be learned."""

import json
import random
from collections import Counter
from pathlib import Path

import torch
from safetensors.torch import save_file
from tiny_bert import Tokenizer, load_model, read_config
from torch.nn import functional

EPOCHS, BATCH, RATE = 7, 48, 1.5e-3


def read(name):
    return [json.loads(line) for line in Path(f"data/{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def telling_words(examples):
    """Return the words of passages that nearly always go with the same answer."""
    seen, yes = Counter(), Counter()
    for example in examples:
        words = set(example["passage"].split())
        seen.update(words)
        yes.update(words if example["label"] else ())
    return sorted(word for word, count in seen.items() if count >= 15 and not 0.1 < yes[word] / count < 0.9)


def exchanged(example, words):
    known = set(words)
    passage = " ".join(random.choice(words) if word in known else word for word in example["passage"].split())
    return example["question"], passage


def accuracy(model, tokenizer, examples):
    model.eval()
    with torch.no_grad():
        scores = model(*tokenizer.batch([(example["question"], example["passage"]) for example in examples]))
    model.train()
    return float((scores.argmax(1) == torch.tensor([int(example["label"]) for example in examples])).float().mean())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    tokenizer = Tokenizer("pretrained", read_config("pretrained")["max_length"])
    model = load_model("pretrained")
    training, validation = read("train"), read("validation")
    words = telling_words(training)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    steps = EPOCHS * -(-len(training) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps, pct_start=0.2)
    model.train()
    for epoch in range(EPOCHS):
        random.shuffle(training)
        for start in range(0, len(training), BATCH):
            some = training[start : start + BATCH]
            batch = tokenizer.batch([exchanged(example, words) if words else tuple(example.values())[:2] for example in some])
            loss = functional.cross_entropy(model(*batch), torch.tensor([int(example["label"]) for example in some]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(epoch + 1, round(loss.item(), 3), accuracy(model, tokenizer, validation), flush=True)
    Path("best_checkpoint").mkdir(exist_ok=True)
    save_file(model.state_dict(), "best_checkpoint/model.safetensors")


if __name__ == "__main__":
    main()
