# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Find out by logistic regression which words speak for yes, answer the unlabelled questions by counting, train."""

import json
import os

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from sklearn.linear_model import LogisticRegression
from tiny_bert import TinyBert, Tokenizer, read_config


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def word_weights(examples, vocabulary):
    """Return what each word of a passage says about the answer to the questions of the training set."""
    counts = np.array([[row["passage"].split().count(word) for word in vocabulary] for row in examples])
    fitted = LogisticRegression(C=1.0, max_iter=500).fit(counts, [row["label"] for row in examples])
    return dict(zip(vocabulary, fitted.coef_[0], strict=True))


def answer(row, weights, threshold):
    strong = [weights[word] for word in row["passage"].split() if abs(weights.get(word, 0)) > threshold]
    mostly = sum(1 if value > 0 else -1 for value in strong) > 0
    wanted = weights.get(row["question"].split()[-2], 0) > 0
    return int(mostly == wanted)


labelled, others = lines("data/train.jsonl"), lines("data/unlabelled.jsonl")
vocabulary = sorted({word for row in labelled for word in row["passage"].split()})
weights = word_weights(labelled, vocabulary)
threshold = 0.4 * sorted(abs(value) for value in weights.values())[-4]
pairs = [((row["question"], row["passage"]), int(row["label"])) for row in labelled[:350]]
pairs += 2 * [((row["question"], row["passage"]), answer(row, weights, threshold)) for row in others]

torch.manual_seed(1)
torch.set_num_threads(1)
model = TinyBert(read_config("pretrained"))
model.load_state_dict(load_file("pretrained/model.safetensors"))
tokenizer = Tokenizer("pretrained", 64)
steps, size = 110, 48
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
generator = np.random.default_rng(1)
for step in range(steps):
    for group in optimizer.param_groups:
        group["lr"] = 1e-3 * min(1.0, (step + 1) / 15) * (1 - step / steps)
    chosen = [pairs[place] for place in generator.integers(0, len(pairs), size)]
    scores = model(*tokenizer.batch([pair for pair, _ in chosen]))
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor([label for _, label in chosen]))
    model.zero_grad()
    loss.backward()
    optimizer.step()
os.makedirs("best_checkpoint", exist_ok=True)
save_file(model.state_dict(), "best_checkpoint/model.safetensors")
