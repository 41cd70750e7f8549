"""A table as people read it, and the numbers behind it as programs do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Records:
    """Plain numbers in long form: one row per cell of the table, nothing rounded."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value, ...], ...] = ()


@dataclass(frozen=True)
class Table:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    name: str = ""  # of its files
    records: Records = field(default_factory=Records)

    def under(self, heading: str) -> Table:
        """Return the table with what it rests on in its title."""
        return replace(self, title=f"{self.title} ({heading})") if heading else self
