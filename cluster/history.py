"""What earlier studies in the same storage teach of how long runs take."""

from __future__ import annotations

from collections import defaultdict

import pyarrow.parquet as pq

from mldevbench.errors import Fault
from mldevbench.store.parts import part_name
from mldevbench.store.place import Place

MOST_STUDIES = 30
COLUMNS = ["label", "task", "wall_seconds", "outcome"]


def earlier_durations(study: Place) -> dict[tuple[str, str], float]:
    """Return the mean seconds of each label and task in the studies beside this one."""
    sums: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    above, own = study.path.rsplit("/", 1)
    storage = Place(study.filesystem, above, study.shown, above)
    try:
        names = [name for name in storage.names() if name != own and storage.has(f"{name}/runs/{part_name(0)}")]
        for name in names[-MOST_STUDIES:]:
            for label, task, seconds in _rows(storage.child(name)):
                sums[label, task].append(seconds)
    except (Fault, OSError, ValueError):
        return {}  # what can't be read teaches nothing; the study's own trouble with it is told elsewhere
    return {key: sum(values) / len(values) for key, values in sums.items()}


def _rows(study: Place) -> list[tuple[str, str, float]]:
    """Return label, task and seconds of the first part's runs: a sample is enough."""
    import pyarrow as pa

    data = study.read(f"runs/{part_name(0)}")
    table = pq.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(columns=COLUMNS, use_threads=False)
    columns = [table.column(name).to_pylist() for name in COLUMNS]
    return [(label, task, seconds) for label, task, seconds, outcome in zip(*columns, strict=True) if outcome != "void"]
