"""Copies of one small task under other names, for studies that need several."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

ENDLESS = "turns:\n  - {text: go on, usage: {prompt: 100, completion: 10}}\nthen: repeat\n"


def several(plugins: Path, texts: Mapping[str, str]) -> Path:
    """Put tasks of these names into the category `many`, each with a line of its own in its instruction."""
    for name, text in texts.items():
        folder = Path(shutil.copytree(plugins / "tasks/trial/quick", plugins / "tasks/many" / name))
        (folder / "instruction.md").write_text(f"Write `yes` into `answer.txt`.\n\n{text}\n", encoding="utf-8")
    return plugins
