"""All benchmarks in one call: prints each figure as it comes, writes figures.json and docs/benchmarks.md."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

PARTS = ("overhead", "peers", "judging", "scheduling", "growth", "doors", "snapshots")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"Only these: {', '.join(PARTS)}; nothing is written then.")
    said = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))
    from figure import Figure, write

    figures: list[Figure] = []
    for name in said.parts or PARTS:
        for figure in importlib.import_module(name).measure():
            figures.append(figure)
            print(f"{figure.group:24} {figure.name:60} {figure.shown:>12}  {figure.target}", flush=True)
    if not said.parts:
        write(figures)
    missed = [figure.name for figure in figures if figure.met is False]
    if missed:
        print(f"not met: {'; '.join(missed)}", file=sys.stderr)
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
