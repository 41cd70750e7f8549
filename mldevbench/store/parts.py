"""A Parquet dataset in parts of a bounded size: changing a row rewrites one part, whatever the study's size."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from mldevbench.schema import rows_of, table_of
from mldevbench.store.place import Place

Row = TypeVar("Row")
PART_RUNS = 256


def part_name(number: int) -> str:
    return f"part-{number:05d}.parquet"


class Parts(Generic[Row]):
    """The parts of one dataset; only the part written last is kept in memory."""

    def __init__(self, place: Place, row: type[Row], key: Callable[[Row], Hashable]) -> None:
        self.place = place
        self.row = row
        self.key = key
        self._number: int | None = None
        self._rows: dict[Hashable, Row] = {}
        self._table = table_of(row, ())  # the same rows: turning all of them anew would be most of a commit's time

    def numbers(self) -> list[int]:
        return [int(name[5:10]) for name in self.place.names() if name.startswith("part-")]

    def rows(self, number: int) -> list[Row]:
        if number == self._number:
            return list(self._rows.values())
        name = part_name(number)
        return rows_of(self.row, read_table(self.place.read(name))) if self.place.has(name) else []

    def all(self) -> Iterable[Row]:
        for number in self.numbers():
            yield from self.rows(number)

    def put(self, number: int, rows: Iterable[Row]) -> None:
        """Add rows to a part or replace those with the same key, durably."""
        self._turn_to(number)
        self._change(number, {self.key(row): row for row in rows})

    def put_run(self, number: int, run_id: str, rows: Sequence[Row]) -> None:
        """Make these a run's only rows."""
        self._turn_to(number)
        old = {key for key, row in self._rows.items() if getattr(row, "run_id") == run_id}  # noqa: B009 - generic
        if rows or old:
            self._change(number, {self.key(row): row for row in rows}, old)

    def _turn_to(self, number: int) -> None:
        if number != self._number:
            rows = self.rows(number)
            self._rows = {self.key(row): row for row in rows}
            self._table = table_of(self.row, rows)
            self._number = number

    def _change(self, number: int, rows: dict[Hashable, Row], gone: Collection[Hashable] = ()) -> None:
        """Put these rows in the place of those with their keys and of those that are gone, and write the part."""
        gone = self._rows.keys() & {*gone, *rows}
        if gone:
            self._table = self._table.filter(pa.array([key not in gone for key in self._rows], pa.bool_()))
            self._rows = {key: row for key, row in self._rows.items() if key not in gone}
        self._rows |= rows
        self._table = pa.concat_tables([self._table, table_of(self.row, rows.values())]).combine_chunks()
        self.place.write(part_name(number), _bytes(self._table))


def read_table(data: bytes) -> pa.Table:
    # Without Arrow's thread pools: one that is still starting while the process ends aborts it.
    return pq.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()
