"""Parquet from records: the schema is read off the dataclass and never written twice."""

from __future__ import annotations

import dataclasses
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
    return pa.table(columns, schema=schema_of(row))


def rows_of(row: type[Row], table: pa.Table) -> list[Row]:
    """Read a table back; columns that a newer version added are left aside, those that it lacks have their defaults."""
    hints = typing.get_type_hints(row)
    known = dataclasses.fields(typing.cast(Any, row))
    missing = {field.name for field in known if field.default is not dataclasses.MISSING} - set(table.column_names)
    fields = [field.name for field in known if field.name not in missing]
    restore = {name: _restorer(hints[name]) for name in fields}
    return [
        row(**{name: restore[name](record.get(name)) for name in fields})
        for record in table.select([name for name in fields if name in table.column_names]).to_pylist()
    ]


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _restorer(hint: Any) -> Any:
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    (kind,) = (kind for kind in kinds if kind is not type(None))
    if issubclass(kind, Enum):
        return lambda value: None if value is None else kind(value)
    if kind is datetime:
        return lambda value: None if value is None else value.astimezone(UTC)
    return lambda value: value
