"""`mldevbench variance`: repeats of a study, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.figure import bracket, listed, percent, rate_text, seeds_text
from mldevbench.cli.output import Json, Root, Storage, StudyOrFile, note, print_json, print_table
from mldevbench.cli.plain import plain
from mldevbench.cli.regrade import Address
from mldevbench.cli.studying import STOPPING, Studying, studying

if TYPE_CHECKING:
    from mldevbench.variance import Component, Variance

SEEDS = 5
ROWS, LABELS = 8, 3  # in the default output, so that it fits a terminal: rates, and those that are explained


def variance(
    context: typer.Context,
    study: StudyOrFile,
    storage: Storage = "results",
    root: Root = [],
    address: Address = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", help="How many seeds to run. [default: the study file's, or 5]")
    ] = None,
    until_half_width: Annotated[
        float | None, typer.Option("--until-half-width", help="Add whole seeds until every rate is this narrow.")
    ] = None,
    max_seeds: Annotated[int, typer.Option("--max-seeds", help="Add no seeds beyond this many.")] = 30,
    regrades: Annotated[
        int, typer.Option("--regrades", help="Judge each submission this many further times: does a validator flake?")
    ] = 0,
    label: Annotated[list[str] | None, typer.Option("--label", help="Show only these labels.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Every label, pass@k and flaky task.")] = False,
    json_: Json = False,
) -> None:
    """Repeat a study over seeds, split its variance by task, instance, seed and validator, and name flaky tasks.

    What follows STUDY goes to `mldevbench run`; without any of it a study is only analysed.

    Examples:

      mldevbench variance my-study --agent react --model openai/gpt-4o --task debugging --seeds 5

      mldevbench variance my-study --until-half-width 0.05
    """
    work = studying(study, context.args, storage, root, address)
    code = _repeat(work, storage, seeds, until_half_width, max_seeds) if work.words else 0
    if code in STOPPING:
        raise typer.Exit(code)
    if regrades:
        _judge_again(work.name, storage, root, address, regrades)
    _analyse(work.name, storage, label or [], until_half_width, full, json_)
    raise typer.Exit(code)


def _repeat(work: Studying, storage: str, seeds: int | None, half_width: float | None, most: int) -> int:
    """Run the seeds; with a half-width in rounds of whole seeds, each at most twice what is there."""
    from mldevbench.subject import read_rows
    from mldevbench.variance import seeds_owed

    own = _own_seeds(work.words[0]) if seeds is None else 0
    seeds = seeds or own or SEEDS
    code = work.run() if own else work.run("--seeds", str(seeds))
    while half_width and code == 0 and seeds < most:
        enough = seeds_owed(read_rows(work.name, storage), half_width)
        if enough <= seeds:
            break
        seeds = min(enough, 2 * seeds, most)
        note(f"not narrow enough yet: going on to {seeds} seeds")
        code = work.run("--seeds", str(seeds))
    return code


def _own_seeds(study: str) -> int:
    """Return how many seeds a study file asks for; 0 where it leaves that open."""
    from mldevbench.study import read_study_file, seeds_of

    file = read_study_file(Path(study)) if study.endswith((".yaml", ".yml")) else None
    return len(seeds_of(file.seeds)) if file and "seeds" in file.model_fields_set else 0


def _judge_again(study: str, storage: str, roots: Sequence[str], address: str | None, repeats: int) -> None:
    from mldevbench.catalog import Catalog
    from mldevbench.cli.regrade import judge_again
    from mldevbench.store.study_store import find_study

    judge_again(find_study(study, storage), Catalog.of([Path(folder) for folder in roots]), address, repeats=repeats)


def _analyse(
    study: str, storage: str, labels: Sequence[str], until_half_width: float | None, full: bool, as_json: bool
) -> None:
    from mldevbench.errors import unknown
    from mldevbench.owed import owed
    from mldevbench.store.study_store import find_study
    from mldevbench.subject import read_rows
    from mldevbench.variance import analyse, repeated_verdicts, seeds_owed

    store = find_study(study, storage)
    missing = owed(store, storage)
    rows = read_rows(study, storage)
    known = sorted({row.label for row in rows})
    for name in labels:
        if name not in known:
            raise unknown(f"label of {study}", name, known)
    rows = [row for row in rows if not labels or row.label in labels]
    found = analyse(rows, repeated_verdicts(store.regrades.all()))
    seeds = seeds_owed(rows, until_half_width) if until_half_width else None
    if as_json:
        print_json({"study": study, "owed": plain(missing), "seeds_owed": seeds, "labels": plain(found)})
        return
    if missing.line:
        note(missing.line)
    _print(found if full else found[:ROWS], full)
    if len(found) > LABELS and not full:
        print("… --full shows all of it for every label")
    if seeds is not None:
        now = min(one.rate.seeds[0] for one in found)
        done = "reached" if seeds <= now else f"takes about {seeds} seeds in all; there are {now}"
        print(f"±{100 * (until_half_width or 0):g} points on these tasks: {done}")


def _print(found: Sequence[Variance], full: bool) -> None:
    names = _names(found)
    rows = [
        (
            name, rate_text(one.rate), bracket(one.rate.fixed.interval), bracket(one.rate.population.interval),
            seeds_text(one.rate.seeds), _void(one),
        )
        for name, one in zip(names, found, strict=True)
    ]  # fmt: skip
    columns = ("label", "passed", "these tasks", "tasks like these", "seeds", "void")
    print_table("Success with 95% intervals", columns, rows)
    for name, one in list(zip(names, found, strict=True))[: None if full else LABELS]:
        print(f"{name}:")
        for line in _lines(one, full):
            print(f"  {line}")


def _names(found: Sequence[Variance]) -> list[str]:
    labels = [one.label for one in found]
    return [f"{one.label} ({one.budget})" if labels.count(one.label) > 1 else one.label for one in found]


def _void(one: Variance) -> str:
    return f"{one.rate.void} {bracket(one.rate.void_bounds)}" if one.rate.void else "0"


def _spread(parts: Sequence[Component]) -> str:
    """Say where the variance comes from; a level that was not repeated is unknown, never 0."""
    known = [f"{part.level} {part.variance:.3f} ({percent(part.share)})" for part in parts if part.variance is not None]
    silent = [part.level for part in parts if part.variance is None]
    said = [", ".join(known)] if known else []
    return "; ".join([*said, *([f"not repeated: {', '.join(silent)}"] if silent else [])])


def _lines(one: Variance, full: bool) -> list[str]:
    lines = [f"variance: {_spread(one.components)}"]
    if one.rate.void and one.rate.first_attempts is not None:
        lines.append(f"first attempts only: {percent(one.rate.first_attempts)}")
    flaky = [f"{task.task} ({task.kind}, {task.passed}/{task.judged})" for task in one.flaky]
    lines.append(f"flaky: {listed(flaky, len(flaky) if full else 4)}")
    if one.purchases:
        bought = [f"{p.seeds}: ±{100 * p.fixed:.1f} / ±{100 * p.population:.1f}" for p in one.purchases]
        lines.append(f"seeds buy, these tasks / tasks like these: {'; '.join(bought)}")
    curve = one.attempts if full else one.attempts[-1:]
    if one.attempts[1:]:
        lines.append(
            "; ".join(
                f"pass@{at.k} {percent(at.at_least_one)} {bracket(at.at_least_one_interval)}, "
                f"pass^{at.k} {percent(at.all)} {bracket(at.all_interval)}"
                for at in curve
            )
        )
    if full:
        lines += [f"{task.task}: {task.kind}, {task.evidence}" for task in one.flaky]
        lines += [f"consistency {one.consistency:.2f}"] if one.consistency is not None else []
    return lines
