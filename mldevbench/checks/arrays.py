"""Strict readers of submitted .npy and .safetensors files: own header parsers, no pickle."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mldevbench.room.strict import naturals, parse_json, plain_array
from mldevbench.submission.record import Submission
from mldevbench.unmet import Unmet

MAX_NPY_HEADER = 4096
MAX_HEADER_BYTES = 4 << 20
MAX_TENSORS = 20_000
NPY_HEADER = re.compile(
    r"\{'descr': '([<|])([fiub])([1248])', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\),? *\} *\n"
)
NPY_DTYPES = {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"}
SAFETENSORS_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "|b1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
}  # fmt: skip


def read_npy(
    submission: Submission,
    path: str,
    shape: Sequence[int | None] | None = None,
    dtype: Any = None,
    max_mb: float = 64,
) -> np.ndarray:
    """Return the array of a .npy file; None in `shape` stands for any size."""
    raw = submission.bytes(path, max_mb * 1024)
    try:
        array = parse_npy(raw)
    except ValueError as error:
        raise Unmet(path, f"{path} as a .npy array of plain numbers", str(error)) from None
    if dtype is not None and array.dtype != np.dtype(dtype):
        raise Unmet(path, f"{path} of {np.dtype(dtype)}", f"{array.dtype}")
    if shape is not None and not fits(array.shape, shape):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise Unmet(path, f"{path} with shape ({wanted})", f"shape {array.shape}")
    return array


def fits(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(shape) == len(wanted) and all(b is None or a == b for a, b in zip(shape, wanted, strict=True))


def parse_npy(raw: bytes) -> np.ndarray:
    if raw[:6] != b"\x93NUMPY" or len(raw) < 12:
        raise ValueError("it doesn't start like a .npy file")
    wide = raw[6] in (2, 3)
    if raw[6] not in (1, 2, 3):
        raise ValueError(f"version {raw[6]} of the format is unknown")
    length = struct.unpack_from("<I" if wide else "<H", raw, 8)[0]
    start = 12 if wide else 10
    if length > MAX_NPY_HEADER:
        raise ValueError(f"a header of {length} bytes")
    found = NPY_HEADER.fullmatch(raw[start : start + length].decode("latin-1"))
    if not found or found[2] + found[3] not in NPY_DTYPES:
        raise ValueError("its header doesn't describe an array of plain numbers")
    shape = [int(size) for size in re.findall(r"\d+", found[5])]
    array = plain_array(raw[start + length :], f"{found[1]}{found[2]}{found[3]}", shape)
    return array.reshape(shape, order="F" if found[4] == "True" else "C")


def read_safetensors(submission: Submission, path: str, max_mb: float = 200) -> dict[str, np.ndarray]:
    """Return the tensors of a .safetensors file as arrays; bfloat16 becomes float32."""
    raw = submission.bytes(path, max_mb * 1024)
    try:
        return parse_safetensors(raw)
    except ValueError as error:
        raise Unmet(path, f"{path} as a valid .safetensors file", str(error)) from None


def parse_safetensors(raw: bytes) -> dict[str, np.ndarray]:
    if len(raw) < 8:
        raise ValueError("it is too short")
    (length,) = struct.unpack_from("<Q", raw)
    if length > min(MAX_HEADER_BYTES, len(raw) - 8):
        raise ValueError(f"a header of {length} bytes in a file of {len(raw)}")
    header = parse_json(raw[8 : 8 + length].decode("utf-8"))
    if not isinstance(header, dict) or len(header) > MAX_TENSORS:
        raise ValueError("its header is not an object of tensors")
    header.pop("__metadata__", None)
    data = memoryview(raw)[8 + length :]
    tensors: dict[str, np.ndarray] = {}
    position = 0
    for name, spec in sorted(header.items(), key=start_of):
        begin, end = spec["data_offsets"]
        if begin != position or not begin <= end <= len(data):
            raise ValueError(f"tensor {name[:80]!r} overlaps another, leaves a gap or ends outside the file")
        tensors[name] = tensor(spec, data[begin:end])
        position = end
    if position != len(data):
        raise ValueError(f"{len(data) - position} bytes belong to no tensor")
    return tensors


def start_of(item: tuple[str, Any]) -> tuple[int, int]:
    """Return where a tensor lies, having made sure that its entry is of the right form."""
    name, spec = item
    whole = isinstance(spec, Mapping) and set(spec) == {"dtype", "shape", "data_offsets"}
    if not whole or not (naturals(spec["shape"]) and naturals(spec["data_offsets"]) and len(spec["data_offsets"]) == 2):
        raise ValueError(f"the entry of tensor {name[:80]!r} is malformed")
    if not isinstance(spec["dtype"], str) or spec["dtype"] not in SAFETENSORS_DTYPES:
        raise ValueError(f"tensor {name[:80]!r} has an unknown dtype")
    return spec["data_offsets"][0], spec["data_offsets"][1]


def tensor(spec: Mapping[str, Any], data: memoryview) -> np.ndarray:
    array = plain_array(data, SAFETENSORS_DTYPES[spec["dtype"]], spec["shape"])
    if spec["dtype"] != "BF16":
        return array
    return np.left_shift(array.astype(np.uint32), 16, dtype=np.uint32, out=np.empty(array.shape, np.uint32)).view(
        np.float32
    )
