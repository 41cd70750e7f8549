# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Tell which tensors the given network is made of."""


def probe(inputs: dict) -> dict:
    from fcn import build

    return {name: list(value.shape) for name, value in build().state_dict().items()}
