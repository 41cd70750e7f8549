"""A verdict as a file, kept beside the submission that it judges."""

from __future__ import annotations

import json
from dataclasses import asdict

from mldevbench.records import Check, Metric, Verdict


def write_verdict(verdict: Verdict) -> bytes:
    return json.dumps(asdict(verdict), ensure_ascii=False).encode()


def read_verdict(data: bytes) -> Verdict:
    raw = json.loads(data)
    return Verdict(
        tuple(Check(**check) for check in raw["checks"]),
        tuple(Metric(**metric) for metric in raw["metrics"]),
        raw.get("primary"),
    )
