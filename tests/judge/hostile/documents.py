"""Documents as an attacker writes them, each with the reader that meets it and what the refusal must say."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mldevbench.checks import number, numeral, read_csv, read_json, read_npy, read_safetensors, read_text, whole
from mldevbench.submission import Submission


class Document(NamedTuple):
    name: str
    content: bytes
    read: Callable[[Submission, str], Any]
    refusal: str


class Bomb:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        import os

        return os.system, ("touch pickle-ran",)


def accuracy(submission: Submission, path: str) -> float:
    return number(read_json(submission, path)["accuracy"], "accuracy", 0, 1)


def count(submission: Submission, path: str) -> int:
    return whole(read_json(submission, path)["n"], "n", 0)


def rows(submission: Submission, path: str) -> list[float]:
    return [numeral(row["score"], "score") for row in read_csv(submission, path, ["id", "score"], max_rows=10)]


def array(submission: Submission, path: str) -> np.ndarray:
    return read_npy(submission, path, shape=(2, None), dtype=np.float32)


def tensors(submission: Submission, path: str) -> dict[str, np.ndarray]:
    return read_safetensors(submission, path, max_mb=1)


def npy(header: str, data: bytes = b"\0" * 24, version: int = 1) -> bytes:
    padded = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(padded)) + padded + data


def plain_npy(descr: str = "<f4", order: str = "False", shape: str = "(2, 3)", data: bytes = b"\0" * 24) -> bytes:
    return npy(f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}", data)


def pickled_npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([Bomb()], dtype=object), allow_pickle=True)
    return file.getvalue()


def safetensors(header: Any, data: bytes = b"\0" * 16) -> bytes:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + data


def tensor(begin: int, end: int, dtype: Any = "F32", shape: Any = (2,)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape) if isinstance(shape, tuple) else shape, "data_offsets": [begin, end]}


TABLE = [
    Document("JSON: NaN", b'{"accuracy": NaN}', accuracy, "NaN is no JSON number"),
    Document("JSON: infinity", b'{"accuracy": Infinity}', accuracy, "Infinity is no JSON number"),
    Document("JSON: a float beyond all", b'{"accuracy": 1e999}', accuracy, "beyond every float"),
    Document("JSON: 400 digits", b'{"accuracy": 1' + b"0" * 400 + b"}", accuracy, "401 digits"),
    Document("JSON: 100,000 digits", b'{"accuracy": 1' + b"0" * 100_000 + b"}", accuracy, "digits"),
    Document("JSON: one key twice", b'{"accuracy": 0.1, "accuracy": 1.0}', accuracy, "stands twice"),
    Document("JSON: deep", b"[" * 100_000 + b"]" * 100_000, read_json, "levels deep"),
    Document("JSON: deep, unfinished", b'{"a":' * 40_000, read_json, "levels deep"),
    Document("JSON: strings against the scanner", b'"' + b'\\"' * 100_000, read_json, "as valid JSON"),
    Document("JSON: 300 kB", b" " * 300_000 + b"{}", accuracy, "at most 256 kB"),
    Document("JSON: byte-order mark", b'\xef\xbb\xbf{"accuracy": 1}', accuracy, "byte-order mark"),
    Document("JSON: UTF-16", '{"accuracy": 1}'.encode("utf-16"), accuracy, "not UTF-8"),
    Document("JSON: half a surrogate", b'{"accuracy": "\\ud800"}', accuracy, "surrogate"),
    Document("JSON: True as a number", b'{"accuracy": true}', accuracy, "True"),
    Document("JSON: text as a number", b'{"accuracy": "0.99"}', accuracy, "'0.99'"),
    Document("JSON: list as a number", b'{"accuracy": [0.99]}', accuracy, "finite number"),
    Document("JSON: out of range", b'{"accuracy": 99}', accuracy, "from 0 to 1"),
    Document("JSON: half a count", b'{"n": 2.5}', count, "whole number"),
    Document("JSON: negative count", b'{"n": -3}', count, "at least 0"),
    Document("JSON: code", b"__import__('os').system('true')", accuracy, "valid JSON"),
    Document("JSON: empty", b"", accuracy, "valid JSON"),
    Document("CSV: wrong column", b"id,scores\n1,2\n", rows, "columns id, score"),
    Document("CSV: column twice", b"id,score,score\n1,2,3\n", rows, "columns id, score"),
    Document("CSV: NaN", b"id,score\n1,nan\n", rows, "finite number"),
    Document("CSV: infinity", b"id,score\n1,-inf\n", rows, "finite number"),
    Document("CSV: 1_0 as a number", b"id,score\n1,1_0\n", rows, "finite number"),
    Document("CSV: other digits", "id,score\n1,٣\n".encode(), rows, "finite number"),
    Document("CSV: short row", b"id,score\n1\n", rows, "fields in row 2"),
    Document("CSV: open quote", b'id,score\n1,"2\n3,4\n', rows, "valid CSV"),
    Document("CSV: huge field", b"id,score\n1," + b"9" * 200_000 + b"\n", rows, "valid CSV"),
    Document("CSV: endless rows", b"id,score\n" + b"1,2\n" * 5000, rows, "more than 10 rows"),
    Document("CSV: NUL", b"id,score\n1,\x002\n", rows, "NUL"),
    Document("text: NUL", b"fine\0", read_text, "NUL"),
    Document("npy: pickled command", pickled_npy(), array, "plain numbers"),
    Document("npy: object dtype", plain_npy("|O"), array, "plain numbers"),
    Document(
        "npy: structured dtype",
        npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }"),
        array,
        "plain",
    ),
    Document("npy: code in the header", npy("{'descr': __import__('os').system('touch pickle-ran')}"), array, "plain"),
    Document("npy: brackets against the parser", npy("(" * 110), array, "plain numbers"),
    Document("npy: header of 4 GB", b"\x93NUMPY\x02\0\xff\xff\xff\xff" + b"{" * 100, array, "header of"),
    Document("npy: truncated", plain_npy(data=b"\0" * 20), array, "doesn't fit"),
    Document("npy: trailing bytes", plain_npy(data=b"\0" * 28), array, "doesn't fit"),
    Document("npy: huge shape", plain_npy(shape="(2, 9999999999999999)"), array, "doesn't fit"),
    Document(
        "npy: shape that overflows", plain_npy(shape="(4294967296, 4294967296, 4294967296)"), array, "doesn't fit"
    ),
    Document("npy: negative shape", plain_npy(shape="(-2, -3)"), array, "plain numbers"),
    Document("npy: transposed shape", plain_npy(order="True", shape="(3, 2)"), array, "shape"),
    Document("npy: wrong dtype", plain_npy("<i4"), array, "float32"),
    Document("npy: other version", b"\x93NUMPY\x09\0\x00\x00\x00\x00", array, "unknown"),
    Document("npy: not one", b"PK\x03\x04", array, "start like"),
    Document(
        "safetensors: overlap", safetensors({"a": tensor(0, 8), "b": tensor(4, 12)}, b"\0" * 12), tensors, "overlaps"
    ),
    Document(
        "safetensors: same bytes twice",
        safetensors({"a": tensor(0, 8), "b": tensor(0, 8)}, b"\0" * 8),
        tensors,
        "overlaps",
    ),
    Document("safetensors: gap", safetensors({"a": tensor(0, 8), "b": tensor(12, 20)}, b"\0" * 20), tensors, "gap"),
    Document("safetensors: beyond the end", safetensors({"a": tensor(0, 4000, shape=(1000,))}), tensors, "outside"),
    Document("safetensors: huge header", struct.pack("<Q", 1 << 60) + b"{}", tensors, "header of"),
    Document("safetensors: unknown dtype", safetensors({"a": tensor(0, 16, "C64")}), tensors, "unknown dtype"),
    Document("safetensors: list as dtype", safetensors({"a": tensor(0, 16, ["F32"])}), tensors, "unknown dtype"),
    Document(
        "safetensors: shape that lies", safetensors({"a": tensor(0, 16, shape=(1 << 40,))}), tensors, "doesn't fit"
    ),
    Document("safetensors: negative offset", safetensors({"a": tensor(-8, 8)}), tensors, "malformed"),
    Document("safetensors: True as a size", safetensors({"a": tensor(0, 16, shape=[True, 4])}), tensors, "malformed"),
    Document("safetensors: name twice", safetensors(b'{"a":1,"a":2}'), tensors, "stands twice"),
    Document("safetensors: no object", safetensors(b"[1]"), tensors, "not an object"),
    Document("safetensors: bytes of no tensor", safetensors({"a": tensor(0, 8)}), tensors, "no tensor"),
    Document(
        "safetensors: 20,001 tensors",
        safetensors({str(n): 0 for n in range(20_001)}, b""),
        tensors,
        "object of tensors",
    ),
]
