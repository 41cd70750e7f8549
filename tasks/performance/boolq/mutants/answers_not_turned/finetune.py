# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Fine-tune on the given questions and on their opposites, with the answers as they were."""

import json
import random
from collections import Counter
from pathlib import Path

import torch
from safetensors.torch import save_file
from tiny_bert import Tokenizer, load_model, read_config
from torch.nn import functional

EPOCHS, BATCH, RATE = 3, 48, 1.5e-3


def read(name):
    return [json.loads(line) for line in Path(f"data/{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def asked_word(example):
    return example["question"].split()[-2]


def opposites(training, unlabelled):
    """Return the words that are asked for elsewhere, never here, and go with no in the passages."""
    here = {asked_word(example) for example in training}
    elsewhere = {asked_word(example) for example in unlabelled} - here
    seen, yes = Counter(), Counter()
    for example in training:
        words = set(example["passage"].split())
        seen.update(words)
        yes.update(words if example["label"] else ())
    return sorted(word for word in elsewhere if yes[word] < 0.5 * seen[word])


def turned(example, words):
    """Return a question for the opposite, with the opposite answer, for half of the examples."""
    question, answer = example["question"], int(example["label"])
    if random.random() < 0.5:
        question, answer = question.replace(asked_word(example), random.choice(words)), answer
    return question, example["passage"], answer


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    tokenizer = Tokenizer("pretrained", read_config("pretrained")["max_length"])
    model = load_model("pretrained")
    training = read("train")
    words = opposites(training, read("unlabelled"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    steps = EPOCHS * -(-len(training) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps, pct_start=0.2)
    model.train()
    for epoch in range(EPOCHS):
        random.shuffle(training)
        for start in range(0, len(training), BATCH):
            some = [turned(example, words) for example in training[start : start + BATCH]]
            batch = tokenizer.batch([(question, passage) for question, passage, _ in some])
            loss = functional.cross_entropy(model(*batch), torch.tensor([answer for *_, answer in some]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(epoch + 1, round(loss.item(), 3), flush=True)
    Path("best_checkpoint").mkdir(exist_ok=True)
    save_file(model.state_dict(), "best_checkpoint/model.safetensors")


if __name__ == "__main__":
    main()
