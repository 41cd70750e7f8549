"""The probe that reads a torch checkpoint; it runs inside a room and is never imported outside."""


def probe(inputs):
    import torch

    loaded = torch.load(inputs["path"], map_location="cpu", weights_only=True)
    for key in ("model_state_dict", "state_dict", "model"):
        if isinstance(loaded, dict) and isinstance(loaded.get(key), dict):
            loaded = loaded[key]
            break
    if not isinstance(loaded, dict):
        raise TypeError(f"{inputs['path']} holds {type(loaded).__name__}, not a state dict")
    odd = [str(name) for name, value in loaded.items() if not isinstance(value, torch.Tensor)]
    if odd:
        raise TypeError(f"{inputs['path']} is no state dict: {', '.join(odd[:5])} hold no tensor")
    return loaded
