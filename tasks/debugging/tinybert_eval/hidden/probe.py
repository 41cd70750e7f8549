# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the script as the command line would, and hand over what it wrote."""

import json
import runpy
import sys
from pathlib import Path


def probe(inputs: dict) -> dict:
    import torch

    torch.set_num_threads(1)
    Path("made").mkdir()
    sys.argv = ["evaluate.py", "--checkpoint", "other", "--data", "questions.jsonl", "--out", "made"]
    try:
        runpy.run_path("evaluate.py", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"evaluate.py ended with {end.code}") from None
    return {
        name: json.loads(Path(f"made/eval_{name}.json").read_text(encoding="utf-8"))
        for name in ("metrics", "predictions")
    }
