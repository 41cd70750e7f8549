"""The long proof: every variant of every task over many instances, and how often a verdict is wrong.

Keeps what it saw of each task in benchmarks/proof.json and writes docs/proof.md from that, so that a proof of some
tasks renews their rows only, and one that was cut goes on: a task is proven anew when anything of it has changed.
Hours for everything on two cores.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from peak import Peak

from mldevbench import digest
from mldevbench.catalog import Catalog
from mldevbench.cli.proving import Line, Proving, prove_lines
from mldevbench.prove import variants
from mldevbench.sandbox.opening import choose
from mldevbench.stats.interval import clopper_pearson
from mldevbench.task import Task
from mldevbench.validate.change import lay_variant
from mldevbench.workspace import lay_over

HERE = Path(__file__).resolve().parent
RECORD, PAGE = HERE / "proof.json", HERE.parent / "docs" / "proof.md"
HEAD = """# Proof of the tasks

Written by `make prove`. A verdict is wrong when a correct solution fails, or when doing nothing, a cheat or a mutant
passes; the bound is the 95 % upper Clopper–Pearson bound of the rate of wrong verdicts. Weak recipes train ten times as
long as in `tasks check`. Validation is the longest of all variants, on two cores that may have had other work; memory
is what the proof of the task held at its peak, training included. Scores are mean and standard deviation over the
instances.

| task | instances | variants | verdicts | wrong | bound | validation, s | memory, MB | scores |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """What was seen of one task."""

    task: str
    digest: str
    instances: int
    patience: int
    variants: int
    verdicts: int
    wrong: list[str]
    validation_seconds: float
    memory_mb: float
    scores: dict[str, list[float]]  # of solutions, and of others whose score is a number, by name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=["all", "extra"])
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--patience", type=int, default=10, help="how many times as long weak recipes train as in CI")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="prove unchanged tasks too")
    said = parser.parse_args()
    proving = Proving(instances=said.instances, patience=said.patience, jobs=said.jobs)
    isolation = choose("auto", trusted=True)
    wrong = 0
    for task in Catalog.of().tasks(said.tasks):
        if not said.again and proven(task, proving):
            print(f"{task.id}: proven already", flush=True)
            continue
        with Peak() as peak:
            lines = prove_lines([task], proving, isolation)
        row = row_of(task, lines, proving, peak.megabytes)
        keep(row)
        wrong += len(row.wrong)
        print(f"{task.id}: {row.verdicts - len(row.wrong)} of {row.verdicts} verdicts as they must be", flush=True)
    raise SystemExit(1 if wrong else 0)


def proven(task: Task, proving: Proving) -> bool:
    row = recorded().get(task.id)
    return (
        row is not None
        and not row.wrong
        and row.digest == digest_of(task)
        and row.instances >= proving.instances
        and row.patience >= proving.patience
    )


def digest_of(task: Task) -> str:
    """Cover what is proven: the task, its judges and all known answers."""
    with tempfile.TemporaryDirectory() as folder:
        for variant in variants(task):
            if variant.folder:
                place = Path(folder) / variant.kind / variant.name
                place.mkdir(parents=True)
                lay_over(task.part("workspace"), place)
                lay_variant(variant.folder, place)
        answers = digest.of_tree(Path(folder))
    return digest.of_value([task.task_digest("mini"), task.validator_digest(), answers], 16)


def row_of(task: Task, lines: Sequence[Line], proving: Proving, megabytes: float) -> Row:
    return Row(
        task=task.id,
        digest=digest_of(task),
        instances=proving.instances,
        patience=proving.patience,
        variants=len({(line.proof.variant.kind, line.proof.variant.name) for line in lines}),
        verdicts=len(lines),
        wrong=[
            f"{line.proof.variant.name} {line.instance}: {line.proof.detail}" for line in lines if not line.proof.ok
        ],
        validation_seconds=max(line.proof.judging_seconds for line in lines),
        memory_mb=megabytes,
        scores=scores(task, lines),
    )


def scores(task: Task, lines: Sequence[Line]) -> dict[str, list[float]]:
    """Return the task's own metric for each variant that has one."""
    found: dict[str, list[float]] = {}
    for line in lines if task.file.score else ():
        for metric in line.proof.verdict.metrics if line.proof.verdict else ():
            if metric.name == task.file.score:
                found.setdefault(line.proof.variant.name, []).append(metric.value)
    return found


def keep(row: Row) -> None:
    """Put a row in its place in the record, and write the page anew."""
    rows = recorded() | {row.task: row}
    kept = {name: asdict(rows[name]) for name in sorted(rows)}
    RECORD.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(HEAD + "".join(f"{line}\n" for line in page_rows(rows)), encoding="utf-8")


def recorded() -> dict[str, Row]:
    kept = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    return {name: Row(**value) for name, value in kept.items()}


def page_rows(rows: dict[str, Row]) -> Iterator[str]:
    for name in sorted(rows):
        row = rows[name]
        bound = clopper_pearson(len(row.wrong), row.verdicts)[1]
        yield (
            f"| {name} | {row.instances} | {row.variants} | {row.verdicts} | {len(row.wrong)} | {bound:.4f} "
            f"| {row.validation_seconds:.1f} | {row.memory_mb:.0f} | {said(row.scores)} |"
        )


def said(found: dict[str, list[float]]) -> str:
    """Say the mean and spread of each variant's scores."""
    return "; ".join(
        f"{name} {statistics.mean(values):.3f}" + (f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else "")
        for name, values in found.items()
    )


if __name__ == "__main__":
    main()
