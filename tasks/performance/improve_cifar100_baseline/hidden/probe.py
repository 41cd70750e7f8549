# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Let the submitted model score pictures; it gets nothing else."""


def probe(inputs):
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    from utils import get_best_model

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = get_best_model().to(device).eval()
    images = torch.from_numpy(inputs["inputs"].copy())
    with torch.no_grad():
        scores = [model(part.to(device)).float().cpu() for part in images.split(200)]
    return {"outputs": torch.cat(scores)}
