"""Names that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mldevbench.submission import Submission

Submit = Callable[..., Submission]


def write(place: Path, **files: str) -> None:
    """Write Python files into a folder, named without their suffix."""
    for name, text in files.items():
        (place / f"{name}.py").write_text(text, encoding="utf-8")
