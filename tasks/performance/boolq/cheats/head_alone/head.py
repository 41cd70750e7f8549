# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train the head alone, on the given questions alone."""

import json

import torch
from safetensors.torch import save_file
from tiny_bert import Tokenizer, load_model, read_config

torch.manual_seed(0)
torch.set_num_threads(1)
with open("data/train.jsonl", encoding="utf-8") as file:
    rows = [json.loads(line) for line in file][:240]
tokenizer = Tokenizer("pretrained", read_config("pretrained")["max_length"])
model = load_model("pretrained").eval()
labels = torch.tensor([int(row["label"]) for row in rows])
with torch.no_grad():
    states = torch.tanh(model.pooler(model.first_state(*tokenizer.batch([(r["question"], r["passage"]) for r in rows]))))
optimizer = torch.optim.Adam(model.classifier.parameters(), lr=0.05)
for _ in range(300):
    loss = torch.nn.functional.cross_entropy(model.classifier(states), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
save_file(model.state_dict(), "best_checkpoint/model.safetensors")
