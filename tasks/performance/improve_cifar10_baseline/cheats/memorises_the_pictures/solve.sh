# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Perfect on every picture that was given, learnt without any variation of them.
python - <<'END'
import torch
from model import build
from pictures import load_training_set

torch.manual_seed(0)
torch.set_num_threads(1)
pictures, labels = load_training_set()
model = build()
optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(60):
    for rows in torch.randperm(len(labels)).split(50):
        loss = torch.nn.functional.cross_entropy(model(pictures[rows]), labels[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
torch.save(model.state_dict(), "checkpoints/best.pt")
END
