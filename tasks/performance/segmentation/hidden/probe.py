# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Put submitted tensors into the given network and tell the class of every pixel; runs no submitted code."""


def probe(inputs: dict) -> dict:
    import torch
    from fcn import build, prepared
    from safetensors.torch import load_file

    # Masks must agree pixel by pixel between batches of other sizes, and with those of a CPU.
    torch.backends.cudnn.allow_tf32 = False
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = build()
    network.load_state_dict({name: value.float() for name, value in load_file("model.safetensors").items()})
    network.eval().to(device)
    pictures = torch.from_numpy(inputs["pictures"].copy())
    with torch.no_grad():
        parts = [network(prepared(part.to(device))).argmax(1).to(torch.uint8).cpu() for part in pictures.split(50)]
    return {"outputs": torch.cat(parts).numpy()}
