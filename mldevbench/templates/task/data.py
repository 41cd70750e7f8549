"""What is drawn for each instance; nothing here can be seen from a sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    """Write the instance's files; what is returned fills the $names of instruction.md."""
    numbers = [int(number) for number in draw.rng("numbers").integers(-1000, 1000, profile["count"])]
    (destination / "numbers.json").write_text(json.dumps(numbers), encoding="utf-8")
    return {}
