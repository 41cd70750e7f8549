"""Studies that run first and are analysed then: what stands after STUDY goes to `mldevbench run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mldevbench.errors import UserError

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
STOPPING = (2, 4, 130)  # wrong use, a limit reached, interrupted: no further round


@dataclass(frozen=True)
class Studying:
    """One study by name, and the words that run it; no words: it is only looked at."""

    name: str
    words: tuple[str, ...]

    def run(self, *more: str) -> int:
        """Run what is owed of this; return the exit code."""
        from typer.main import get_command

        from mldevbench.cli.app import app

        return int(get_command(app).main(["run", "--quiet", *self.words, *more], standalone_mode=False) or 0)


def studying(study: str, extra: Sequence[str], storage: str, roots: Sequence[str], address: str | None) -> Studying:
    """Tell a study that is to be run from one that is only analysed."""
    if study.startswith("-"):
        raise UserError(f"the study comes first, before {study!r}: its name, or a study file")
    file = study if study.endswith((".yaml", ".yml")) else None
    if not file and not extra:
        return Studying(study, ())
    words = [file] if file else ["--name", study]
    words += ["--storage", storage, *(word for root in roots for word in ("--root", root))]
    words += ["--address", address] if address else []
    return Studying(_name(Path(file), extra) if file else study, (*words, *extra))


def _name(file: Path, extra: Sequence[str]) -> str:
    from mldevbench.study import read_study_file

    said = extra[list(extra).index("--name") + 1] if "--name" in extra[:-1] else read_study_file(file).name
    if not said:
        raise UserError(f"{file}: has no name; add one there, or --name")
    return said
