"""How much a submitted model may hold: every number of its checkpoint counts, whatever it is called or trained for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mldevbench.checks.arrays import read_safetensors
from mldevbench.checks.compare import require
from mldevbench.records import Check
from mldevbench.submission.record import Submission

BYTES_PER_PARAMETER = 4


def parameter_count(tensors: Mapping[str, np.ndarray]) -> int:
    """Count all numbers, frozen ones and buffers too; wide ones count by their bytes, since two fit into one."""
    return sum(max(value.size, -(-value.nbytes // BYTES_PER_PARAMETER)) for value in tensors.values())


def within_capacity(submission: Submission, path: str, most: int) -> Iterator[Check]:
    """Demand a .safetensors file of finite tensors with at most so many numbers in all."""
    max_mb = (most * BYTES_PER_PARAMETER + (1 << 20)) / 1e6
    tensors = read_safetensors(submission, path, max_mb=max_mb)
    count = parameter_count(tensors)
    yield require("parameters", 0 < count <= most, f"1 to {most:,} numbers in {path}", f"{count:,}")
    bad = [name for name, value in tensors.items() if value.dtype.kind == "f" and not np.isfinite(value).all()]
    seen = f"NaN or infinity in {', '.join(bad[:4])}" if bad else "all finite"
    yield require("weights", not bad, f"finite values in {path}", seen)


def small_code(submission: Submission, paths: Sequence[str], max_kb: float) -> Iterator[Check]:
    """Demand that code is small, so that no second model hides in it."""
    missing = [path for path in paths if not submission.has(path)]
    yield require("code", not missing, f"files {', '.join(paths)}", f"no {', '.join(missing)}")
    size = sum(submission.files[path].size for path in paths)
    yield require("size of the code", size <= max_kb * 1000, f"at most {max_kb:g} kB", f"{size / 1000:.1f} kB")
