"""The plain format in which inputs enter a room and answers leave it; the form is described in the runner."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from mldevbench.room.strict import naturals, parse_json, plain_array
from mldevbench.sandbox.inside.runner import DTYPES, MAGIC

MAX_HEADER_BYTES = 8 << 20
MAX_ARRAYS = 20_000
PREFIX = len(MAGIC) + 8


def encode_request(probe: str, inputs: Mapping[str, Any], limit: int) -> bytes:
    """Return a request; its inputs are ours, so a value that can't cross is our own mistake."""
    arrays = {name: np.asarray(value) for name, value in inputs.items() if isinstance(value, np.ndarray | np.generic)}
    values = {name: value for name, value in inputs.items() if name not in arrays}
    listing, chunks = [], []
    for name, array in arrays.items():
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        if kind not in DTYPES:
            raise TypeError(f"input {name!r} has the dtype {array.dtype}; allowed: {' '.join(DTYPES)}")
        listing.append([name, kind, list(array.shape)])
        chunks.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    header = json.dumps({"probe": probe, "limit": limit, "values": values, "arrays": listing}, allow_nan=False)
    raw = header.encode()
    return b"".join([MAGIC, struct.pack("<Q", len(raw)), raw, *chunks])


def decode_answer(data: bytes) -> dict[str, Any]:
    """Return what an answer holds; whatever is wrong with it is a ValueError."""
    if len(data) < PREFIX or data[: len(MAGIC)] != MAGIC:
        raise ValueError("it has the wrong form")
    (length,) = struct.unpack_from("<Q", data, len(MAGIC))
    if length > min(MAX_HEADER_BYTES, len(data) - PREFIX):
        raise ValueError("its header is too long")
    header = parse_json(data[PREFIX : PREFIX + length].decode("utf-8"))
    if not isinstance(header, dict) or set(header) != {"values", "arrays"}:
        raise ValueError("its header has the wrong form")
    values, listing = header["values"], header["arrays"]
    if not isinstance(values, dict) or not isinstance(listing, list) or len(listing) > MAX_ARRAYS:
        raise ValueError("its header has the wrong form")
    return values | decode_arrays(listing, memoryview(data)[PREFIX + length :], set(values))


def decode_arrays(listing: list[Any], data: memoryview, taken: set[str]) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    position = 0
    for item in listing:
        name, dtype, shape = described(item)
        if name in taken or name in arrays:
            raise ValueError(f"{name[:80]!r} is there twice")
        end = position + byte_count(dtype, shape, len(data) - position)
        arrays[name] = plain_array(data[position:end], f"<{dtype}", shape)
        position = end
    if position != len(data):
        raise ValueError("it has bytes that belong to no array")
    return arrays


def described(item: Any) -> tuple[str, str, list[int]]:
    if not isinstance(item, list) or len(item) != 3:
        raise ValueError("an array is not described as name, dtype and shape")
    name, dtype, shape = item
    if not isinstance(name, str) or dtype not in DTYPES or not naturals(shape):
        raise ValueError("an array is not described as name, dtype and shape")
    return name, dtype, shape


def byte_count(dtype: str, shape: list[int], available: int) -> int:
    count = np.dtype(dtype).itemsize
    for size in shape:
        count *= size
    if count > available:
        raise ValueError("an array is shorter than it says")
    return count
