"""`mldevbench tasks`: list, show, prove, grade, look inside, make new ones."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from mldevbench.cli import completion
from mldevbench.cli.output import Json, Root, note, print_json, print_table
from mldevbench.errors import UserError

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Task = Annotated[str, typer.Argument(metavar="TASK", autocompletion=completion.tasks)]
Wanted = Annotated[
    list[str],
    typer.Argument(metavar="TASK", help="Task ids, categories, or all.", autocompletion=completion.tasks),
]
Profile = Annotated[str, typer.Option("--profile", help="mini or full.")]
Isolation = Annotated[str, typer.Option("--sandbox", help="auto, bubblewrap or process.")]


@app.command("list")
def list_(
    root: Root = [],
    differs: Annotated[bool, typer.Option("--differs", help="Show where each departs from the paper's.")] = False,
    json_: Json = False,
) -> None:
    """List the tasks; one that is broken is named and the others are listed all the same."""
    from mldevbench.catalog import Catalog

    catalog = Catalog.of([Path(folder) for folder in root])
    good, broken = [], []
    for name in catalog.task_folders:
        try:
            good.append(catalog.task(name))
        except UserError as error:
            broken.append(str(error))
    if json_:
        print_json([{"task": task.id, "category": task.category, **task.file.model_dump()} for task in good])
    elif differs:
        print_table("", ("task", "differs"), [(task.id, task.file.differs or "–") for task in good])
    else:
        rows = [(task.id, task.category, task.file.difficulty, task.summary) for task in good]
        print_table("", ("task", "category", "difficulty", "summary"), rows)
    for line in broken:
        note(f"broken: {line}")
    if broken:
        raise typer.Exit(1)


@app.command()
def show(
    task: Task,
    profile: Profile = "mini",
    root: Root = [],
    json_: Json = False,
) -> None:
    """Show a task as an agent is told it, with a drawn instance."""
    from mldevbench import workspace
    from mldevbench.catalog import Catalog
    from mldevbench.draw import Draw

    found = Catalog.of([Path(folder) for folder in root]).task(task)
    with tempfile.TemporaryDirectory() as folder:
        instruction = workspace.build(found, Draw.of(b"shown", found.id, 0), profile, Path(folder))
        files = sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file())
    if json_:
        print_json({"task": found.id, **found.file.model_dump(), "instruction": instruction, "files": files})
        return
    print(f"{found.title} ({found.category}/{found.id}, {found.file.difficulty})\n{found.summary}\n")
    print(instruction)
    print(
        "Given files: "
        + (", ".join(files[:20]) or "none")
        + (f" and {len(files) - 20} more" if len(files) > 20 else "")
    )
    print(f"Submission: {', '.join(found.submission)}")
    if found.file.differs:
        print(f"Differs from the original: {found.file.differs}")


@app.command()
def check(
    tasks: Wanted,
    profile: Profile = "mini",
    sandbox: Isolation = "auto",
    only: Annotated[list[str] | None, typer.Option("--only", help="Only these variants, by name or kind.")] = None,
    instances: Annotated[int, typer.Option("--instances", help="How many draws of each task.")] = 1,
    repeat: Annotated[int, typer.Option("--repeat", help="How often each variant is run on an instance.")] = 1,
    jobs: Annotated[
        int | None, typer.Option("--jobs", help="How many at once; without it: as many as there are CPUs.")
    ] = None,
    keep: Annotated[Path | None, typer.Option("--keep", help="Keep what each variant left in this folder.")] = None,
    root: Root = [],
    json_: Json = False,
) -> None:
    """Prove tasks: both solutions pass; doing nothing, each cheat and each mutant fails.

    Prints a matrix of variants and the check that caught each. Ray isn't started. Exit code 1 if a task
    isn't proven.
    """
    from mldevbench.catalog import Catalog
    from mldevbench.cli.proving import Proving, prove_all

    found = Catalog.of([Path(folder) for folder in root]).tasks(tasks)
    proving = Proving(profile, sandbox, tuple(only or ()), instances, repeat, jobs, keep)
    raise typer.Exit(0 if prove_all(found, proving, json_) else 1)


@app.command()
def grade(
    task: Task,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A workspace as an agent would leave it.")],
    profile: Profile = "mini",
    sandbox: Isolation = "auto",
    root: Root = [],
    json_: Json = False,
) -> None:
    """Validate any folder as a submission of a task."""
    from mldevbench.catalog import Catalog
    from mldevbench.cli.proving import grade_folder

    if not folder.is_dir():
        raise UserError(f"{folder}: is no folder")
    found = Catalog.of([Path(place) for place in root]).task(task)
    verdict = grade_folder(found, folder, profile, sandbox)
    if json_:
        from dataclasses import asdict

        print_json({"passed": verdict.passed, "score": verdict.score, **asdict(verdict)})
    else:
        rows = [("✓" if one.passed else "✗", one.name, one.expected, one.seen) for one in verdict.checks]
        print_table("passed" if verdict.passed else "failed", ("", "check", "expected", "seen"), rows)
    raise typer.Exit(0 if verdict.passed else 1)


@app.command()
def shell(
    task: Task,
    profile: Profile = "mini",
    sandbox: Isolation = "auto",
    root: Root = [],
) -> None:
    """Open the sandbox as an agent sees it: each line you type is one command.

    The workspace is thrown away at the end.
    """
    from mldevbench.catalog import Catalog
    from mldevbench.cli.proving import open_shell

    open_shell(Catalog.of([Path(folder) for folder in root]).task(task), profile, sandbox)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new task's id.")],
    category: Annotated[str, typer.Option("--category", help="Its category.")] = "extra",
    root: Annotated[Path | None, typer.Option("--root", help="The folder that holds tasks/; without it: ours.")] = None,
) -> None:
    """Make a task folder with blanks to fill in; no other file needs a change."""
    from mldevbench.cli.making import make_task

    folder = make_task(name, category, root)
    there = f" --root {root}" if root else ""
    print(f"made {folder}; fill in what says FILL IN, then: mldevbench tasks check {name}{there}")
