"""The sizes that the visible tests use in this instance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.latent_attention import draw_sizes


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    sizes = dict(draw_sizes(draw.rng("sizes"))._asdict())
    text = f'"""Sizes for the tests. Do not change this file."""\n\nSIZES = {sizes}\n'
    (destination / "sizes.py").write_text(text, encoding="utf-8")
