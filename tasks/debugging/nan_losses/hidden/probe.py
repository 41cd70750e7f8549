# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train on the given files and predict for the given loads; knows no cost of an unseen load."""

import numpy as np


def probe(inputs: dict) -> dict:
    from train import predict, train

    answers = {}
    for position, early in enumerate(inputs["early"]):
        path = f"file_{position}.csv"
        loads = inputs[f"loads {position}"]
        model, losses = train(path, inputs["epochs"])
        answers[f"losses {position}"] = _array(losses)
        answers[f"last fitted {position}"] = _array(predict(model, loads.copy()))
        part = 0
        while f"unseen {position} {part}" in inputs:
            answers[f"predicted {position} {part}"] = _array(predict(model, inputs[f"unseen {position} {part}"].copy()))
            part += 1
        answers[f"early fitted {position}"] = _array(predict(train(path, early)[0], loads.copy()))
    return answers


def _array(values) -> np.ndarray:
    return np.asarray(values, dtype=np.float64)
