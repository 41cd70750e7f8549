"""Puts the table of `make demo TASKS=all` into the README: `python benchmarks/demo_table.py results/demo/report.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from figure import README, between

BEGIN, END = "<!-- written by benchmarks/demo_table.py -->", "<!-- end of the table of the demo -->"


def main() -> None:
    report = Path(sys.argv[1]).read_text(encoding="utf-8")
    table = report.partition("## Table 3")[0].strip().removeprefix("## ")
    README.write_text(between(README.read_text("utf-8"), BEGIN, END, table.splitlines()), encoding="utf-8")


if __name__ == "__main__":
    main()
