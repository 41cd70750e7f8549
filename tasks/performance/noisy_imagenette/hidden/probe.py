# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Write pictures as files with names that tell nothing and ask the submitted code for their classes."""

from pathlib import Path

import numpy as np


def probe(inputs: dict) -> dict:
    folder = Path("/tmp/pictures")
    folder.mkdir()
    paths = []
    for number, row in enumerate(inputs["files"]):
        path = folder / f"{number:06d}{inputs['suffix']}"
        path.write_bytes(row.tobytes())
        paths.append(str(path))
    from predict import predict

    return {"outputs": np.asarray(predict(paths)).astype(np.int64)}
