"""The repository on the hub: a drawn model, or the real one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.hub_bert import draw_bert, write_model

FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt")


def serve(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    folder = destination / "hub" / "models" / profile["model"]
    if profile["source"] == "drawn":
        write_model(draw_bert(draw.rng("model"), profile), folder)
        return
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).symlink_to(asset(profile, name).resolve())
