"""Parquet from records: the schema is read off the dataclass and never written twice."""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import pyarrow as pa

from mldevbench.records import SCHEMA_VERSION

Row = TypeVar("Row")
PLAIN = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    datetime: pa.timestamp("us", tz="UTC"),
}


@cache
def schema_of(row: type[Any]) -> pa.Schema:
    hints = typing.get_type_hints(row)
    fields = [_field(field.name, hints[field.name]) for field in dataclasses.fields(row)]
    return pa.schema(fields, metadata={"mldevbench_schema": str(SCHEMA_VERSION)})


def _field(name: str, hint: Any) -> pa.Field:
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    (kind,) = (kind for kind in kinds if kind is not type(None))
    arrow = pa.string() if issubclass(kind, Enum) else PLAIN[kind]
    return pa.field(name, arrow, nullable=len(kinds) > 1)


def table_of(row: type[Row], rows: Iterable[Row]) -> pa.Table:
    names = [field.name for field in dataclasses.fields(typing.cast(Any, row))]
    listed = list(rows)
    columns = {name: [_plain(getattr(item, name)) for item in listed] for name in names}
    _spare_pandas()
    return pa.table(columns, schema=schema_of(row))


class _NoPandas:
    """Found first, and finds none."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name == "pandas":
            raise ImportError("not now")


@cache
def _spare_pandas() -> None:
    """Spare us the import of pandas with pyarrow's first array, just to see that none of ours is a series."""
    sys.meta_path.insert(0, typing.cast(Any, _NoPandas))
    try:
        pa.array([], pa.int8())
    finally:
        sys.meta_path.remove(typing.cast(Any, _NoPandas))


def rows_of(row: type[Row], table: pa.Table) -> list[Row]:
    """Read a table back; columns that a newer version added are left aside, those that it lacks have their defaults."""
    hints = typing.get_type_hints(row)
    known = dataclasses.fields(typing.cast(Any, row))
    missing = {field.name for field in known if field.default is not dataclasses.MISSING} - set(table.column_names)
    fields = [field.name for field in known if field.name not in missing]
    columns = [_restored(hints[name], _column(table, name)) for name in fields]
    return [row(**dict(zip(fields, values, strict=True))) for values in zip(*columns, strict=True)]


def _column(table: pa.Table, name: str) -> list[Any]:
    return table.column(name).to_pylist() if name in table.column_names else [None] * table.num_rows


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _restored(hint: Any, values: list[Any]) -> list[Any]:
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    (kind,) = (kind for kind in kinds if kind is not type(None))
    if issubclass(kind, Enum):
        known = {value: None if value is None else kind(value) for value in set(values)}
        return [known[value] for value in values]
    if kind is datetime:
        return [None if value is None else value.astimezone(UTC) for value in values]
    return values
