"""Runs one probe inside a sandbox: reads a request, calls `probe(inputs)`, writes the answer.

It shares its process with the submitted code, which may forge every byte of the answer: it is no wall,
and whoever reads the answer outside must treat it as the submission's own words.

A request or answer is MAGIC, the header's length (8 bytes, little-endian), a JSON header, raw array bytes:
`{"values": {name: JSON}, "arrays": [[name, dtype, shape], ...]}`; a request adds `probe` (source) and `limit`
(bytes). Only the standard library is imported at import: it may be handed to any Python as one file.
"""

from __future__ import annotations

import json
import linecache
import os
import struct
import sys
import traceback
import types
from typing import Any, NoReturn

MAGIC = b"MLDBROOM"
DTYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1")
PROBE_NAME = "__probe__"


def decode(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a request's header and its inputs."""
    import numpy

    (length,) = struct.unpack_from("<Q", data, len(MAGIC))
    position = len(MAGIC) + 8
    header = json.loads(data[position : position + length])
    position += length
    inputs = dict(header["values"])
    for name, dtype, shape in header["arrays"]:
        kind = numpy.dtype(dtype)
        count = 1
        for size in shape:
            count *= size
        flat = numpy.frombuffer(data, kind, count, position)
        inputs[name] = flat.reshape(shape).copy()
        position += count * kind.itemsize
    return header, inputs


def as_array(value: Any) -> Any:
    """Return a numpy array for an array or tensor, None for anything else."""
    import numpy

    if hasattr(value, "detach") and hasattr(value, "element_size"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
        value = value.numpy()
    if isinstance(value, numpy.generic | numpy.ndarray):
        return numpy.asarray(value)
    return None


def encode(outputs: Any, limit: int) -> list[bytes]:
    """Return the pieces of an answer; refuse what can't cross."""
    import numpy

    if not isinstance(outputs, dict):
        raise TypeError(f"probe must return a dict, not {type(outputs).__name__}")
    values: dict[str, Any] = {}
    arrays: list[Any] = []
    chunks: list[bytes] = []
    total = 0
    for name, value in outputs.items():
        array = as_array(value)
        if array is None:
            values[str(name)] = value
            continue
        kind = array.dtype.kind + str(array.dtype.itemsize)
        total += array.size * array.dtype.itemsize
        if kind not in DTYPES:
            raise TypeError(f"{name!r} has the dtype {array.dtype}, which can't be handed over")
        if total > limit:
            raise ValueError(f"the answer is larger than {limit} bytes")
        array = numpy.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        arrays.append([str(name), kind, list(array.shape)])
        chunks.append(array.tobytes())
    header = json.dumps({"values": values, "arrays": arrays}, allow_nan=False).encode()
    return [MAGIC, struct.pack("<Q", len(header)), header, *chunks]


def load_probe(source: str) -> Any:
    """Return the `probe` function of a source text, as a module that tracebacks can quote."""
    module = types.ModuleType(PROBE_NAME)
    module.__file__ = f"<{PROBE_NAME}>"
    linecache.cache[module.__file__] = (len(source), None, source.splitlines(True), module.__file__)
    sys.modules[PROBE_NAME] = module
    exec(compile(source, module.__file__, "exec"), module.__dict__)
    return module.__dict__["probe"]


def serve(request: bytes, workspace: str, answer: str) -> NoReturn:
    """Answer one request into the new file `answer` of the workspace and end the process."""
    end, write, report = os._exit, os.write, traceback.print_exception
    code = 1
    try:
        os.chdir(workspace)
        channel = os.open(answer, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        header, inputs = decode(request)
        # Only now: a local json.py or numpy.py must not stand in for what the lines above need.
        sys.path.insert(0, workspace)
        for piece in encode(load_probe(header["probe"])(inputs), header["limit"]):
            view = memoryview(piece)
            while view:
                view = view[write(channel, view) :]
        sys.stdout.flush()
        code = 0
    except BaseException as error:
        say_last(report, error)
    end(code)


def say_last(report: Any, error: BaseException) -> None:
    """Print how the code failed, after all that it printed itself, without our own line of the traceback."""
    try:
        sys.stdout.flush()
        report(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
        sys.stderr.flush()
    except BaseException as another:
        os.write(2, f"{type(error).__name__}, and then {type(another).__name__}\n".encode())


def main() -> NoReturn:
    """Take the request from standard input, which the probe then finds empty."""
    with open(0, "rb", closefd=False) as source:
        request = source.read()
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    serve(request, sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    main()
