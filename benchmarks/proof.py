"""The long proof: every variant of every task over many instances, and how often a verdict is wrong.

Writes docs/proof.md. `--instances 10` and `--repeat 1` by default; hours for everything on two cores.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from mldevbench.catalog import Catalog
from mldevbench.cli.proving import Line, Proving, prove_lines
from mldevbench.sandbox.opening import choose
from mldevbench.stats.interval import clopper_pearson


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=["all", "extra"])
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--patience", type=int, default=10, help="how many times as long weak recipes train as in CI")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "docs" / "proof.md")
    said = parser.parse_args()
    isolation = choose("auto", trusted=True)
    proving = Proving(instances=said.instances, repeat=said.repeat, patience=said.patience)
    lines = prove_lines(Catalog.of().tasks(said.tasks), proving, isolation)
    said.out.write_text(page(lines, isolation, said.instances, said.repeat), encoding="utf-8")
    print(f"wrote {said.out}: {sum(line.proof.ok for line in lines)} of {len(lines)} verdicts as they must be")
    raise SystemExit(0 if all(line.proof.ok for line in lines) else 1)


def page(lines: Sequence[Line], isolation: str, instances: int, repeat: int) -> str:
    """Return the table of verdicts, and the flake rate's upper bound for each task."""
    by_task: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_task[line.task].append(line)
    rows = [_row(task, some) for task, some in sorted(by_task.items())]
    return "\n".join(
        [
            "# Proof of the tasks",
            "",
            f"Written by `make prove` ({instances} instances, {repeat} repeats, sandbox {isolation}).",
            "A verdict is wrong when a correct solution fails, or when doing nothing, a cheat or a mutant passes.",
            "The bound is the 95 % upper Clopper–Pearson bound of the rate of wrong verdicts.",
            "",
            "| task | variants | verdicts | wrong | bound | seconds, mean (sd) |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _row(task: str, lines: Sequence[Line]) -> str:
    wrong = sum(not line.proof.ok for line in lines)
    seconds = [line.proof.seconds for line in lines]
    variants = len({(line.proof.variant.kind, line.proof.variant.name) for line in lines})
    bound = clopper_pearson(wrong, len(lines))[1]
    spread = statistics.stdev(seconds) if len(seconds) > 1 else 0.0
    took = f"{statistics.mean(seconds):.1f} ({spread:.1f})"
    return f"| {task} | {variants} | {len(lines)} | {wrong} | {bound:.4f} | {took} |"


if __name__ == "__main__":
    main()
