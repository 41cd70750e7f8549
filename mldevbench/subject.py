"""What `compare` and `plan` are pointed at: STUDY:LABEL, a whole STUDY, or the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mldevbench.errors import UserError, unknown
from mldevbench.records import RunRow
from mldevbench.reference import PAPER, paper_rows
from mldevbench.store.study_store import find_study


@dataclass(frozen=True)
class Subject:
    """One label of one study with its rows."""

    study: str
    label: str
    rows: tuple[RunRow, ...]

    @property
    def name(self) -> str:
        return f"{self.study}:{self.label}"

    @property
    def published(self) -> bool:
        return self.study == PAPER


def find_subjects(words: Sequence[str], storage: str) -> list[Subject]:
    """Return the labels that the words name, each once; a study alone means all of its labels."""
    found: dict[str, Subject] = {}
    for word in words:
        study, label = _split(word)
        rows = read_rows(study, storage)
        labels = sorted({row.label for row in rows})
        if label is not None and label not in labels:
            raise unknown(f"label of {study}", label, labels)
        for one in labels if label is None else [label]:
            subject = Subject(study, one, tuple(row for row in rows if row.label == one))
            found.setdefault(subject.name, subject)
    return list(found.values())


def read_rows(study: str, storage: str) -> list[RunRow]:
    """Return a study's results; none at all is an error."""
    if study == PAPER:
        return list(paper_rows())
    rows = list(find_study(study, storage).runs.all())
    if not rows:
        raise UserError(f"{study}: no run has a result yet; 'mldevbench status {study}' shows what is owed")
    return rows


def _split(word: str) -> tuple[str, str | None]:
    study, colon, label = word.rpartition(":")
    # A URL's colon is not ours.
    return (study, label) if colon and not label.startswith("//") else (word, None)
