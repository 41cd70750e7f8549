# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Learn the labels as they are; then, from the true ones, what labels each true class gets."""

import numpy as np
import pandas
import torch
from predict import FOLDER, Labeller, log_chances, pixels

torch.manual_seed(7)
torch.set_num_threads(1)
table, trusted = pandas.read_csv("dataset/noisy_labels_50.csv"), pandas.read_csv("dataset/validation.csv")
pictures = pixels("dataset/images/" + table["path"])
labels = torch.tensor(table["noisy_label"].to_numpy())
model = Labeller()
np.random.seed(7)
epochs, size, rate = 12, 40, 0.005
optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=1e-4)
for epoch in range(epochs):
    for group in optimizer.param_groups:
        group["lr"] = rate * 0.5 * (1 + np.cos(np.pi * epoch / epochs))
    model.train()
    for rows in torch.randperm(len(pictures)).split(size):
        batch = pictures[rows]
        batch = batch.flip(2) if np.random.rand() < 0.5 else batch
        batch = torch.roll(batch, tuple(np.random.randint(-2, 3, 2)), (1, 2))
        loss = torch.nn.functional.cross_entropy(model(batch), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

known = pixels("dataset/images/" + trusted["path"])
truth = torch.tensor(trusted["label"].to_numpy())
expected = log_chances(model, known)
rows = torch.stack([(expected[truth == kind].sum(0) + 0.02) / ((truth == kind).sum() + 0.16) for kind in range(8)])
torch.save({"labeller": model.state_dict(), "rows": rows, "shift": torch.zeros(8)}, FOLDER / "all.pt")
