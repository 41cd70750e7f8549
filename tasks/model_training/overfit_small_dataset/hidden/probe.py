# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Ask the trained script for labels; knows none."""

import numpy as np


def probe(inputs: dict) -> dict:
    from training_script_mnist import predict

    labels = np.asarray(predict(inputs["images"].copy()))
    return {"outputs": labels}
