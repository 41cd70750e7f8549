# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Put given tensors into the task's own classifier and hand over its scores; no submitted code is near."""


def probe(inputs):
    import torch
    from model import build
    from pictures import prepare

    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = build()
    prefix = "tensor "
    names = [name for name in inputs if name.startswith(prefix)]
    model.load_state_dict({name.removeprefix(prefix): torch.from_numpy(inputs[name].copy()) for name in names})
    model.to(device).eval()
    with torch.no_grad():
        scores = [model(part.to(device)) for part in prepare(inputs["inputs"]).split(256)]
    return {"outputs": torch.cat(scores).float().cpu(), "device": device}
