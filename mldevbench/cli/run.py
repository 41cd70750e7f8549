"""`mldevbench run`: a study from its request to its last result."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from mldevbench.cli.completion import agents, tasks
from mldevbench.cli.output import Json
from mldevbench.errors import unknown

PANELS = {
    "What to run": "agent model task exclude-task root name profile seeds instances samples param only order",
    "What it may spend": "budget limit price max-hours void-retries",
    "Models": "api-base env-file",
    "Resources": "gpus-per-run cpus-per-run gpu-type share-gpus address wait-for-nodes fresh-actors",
    "Agents' surroundings": "sandbox network offline no-install scratch cache",
    "What is kept and said": "storage snapshot-every wandb dry-run quiet",
}
PANEL_OF = {f"--{name}": panel for panel, names in PANELS.items() for name in names.split()}


def option(name: str, help_text: str, **more: Any) -> Any:
    """Declare an option that also reads MLDEVBENCH_<OPTION>."""
    variable = f"MLDEVBENCH_{name.strip('-').replace('-', '_').upper()}"
    return typer.Option(name, envvar=variable, help=help_text, rich_help_panel=PANEL_OF[name], **more)


AGENT = option("--agent", "Agent id or folder; AGENT=MODEL binds a model.", autocompletion=agents)
TASK = option("--task", "Task id, category, or all.", autocompletion=tasks)
WITHOUT = option("--exclude-task", "Task id or category to leave out.", autocompletion=tasks)


def run(
    study_file: Annotated[Path | None, typer.Argument(metavar="STUDY.yaml", help="A study file.")] = None,
    agent: Annotated[list[str] | None, AGENT] = None,
    model: Annotated[list[str] | None, option("--model", "Model, such as openai/gpt-4o or scripted/FILE.")] = None,
    task: Annotated[list[str] | None, TASK] = None,
    exclude_task: Annotated[list[str] | None, WITHOUT] = None,
    name: Annotated[str | None, option("--name", "The study's name; the same name goes on with it.")] = None,
    profile: Annotated[str | None, option("--profile", "mini (offline, CPU) or full (the paper's data).")] = None,
    seeds: Annotated[str | None, option("--seeds", "How many seeds (5 means 0 to 4), or a list such as 0,3,7.")] = None,
    instances: Annotated[int | None, option("--instances", "How many draws of each task.")] = None,
    budget: Annotated[
        list[str] | None, option("--budget", "Per attempt, such as steps=50,minutes=60,usd=2; repeat it for several.")
    ] = None,
    limit: Annotated[str | None, option("--limit", "For the study: usd=100,gpu_hours=200,runs_at_once=32.")] = None,
    param: Annotated[list[str] | None, option("--param", "An agent's parameter: [LABEL.]key=value.")] = None,
    price: Annotated[
        list[str] | None, option("--price", "MODEL=IN,OUT[,CACHED] in dollars per million tokens.")
    ] = None,
    api_base: Annotated[str | None, option("--api-base", "URL of an OpenAI-compatible server.")] = None,
    env_file: Annotated[Path | None, option("--env-file", "File with keys as NAME=value.")] = None,
    gpus_per_run: Annotated[str | None, option("--gpus-per-run", "A number, or auto: what the task says.")] = None,
    cpus_per_run: Annotated[str | None, option("--cpus-per-run", "A number, or auto: what the task says.")] = None,
    gpu_type: Annotated[str | None, option("--gpu-type", "An accelerator such as A100, or a label KEY=VALUE.")] = None,
    share_gpus: Annotated[bool, option("--share-gpus", "Let a run have a part of a GPU, such as 0.5.")] = False,
    address: Annotated[str | None, option("--address", "Ray's address; local starts an embedded one.")] = None,
    storage: Annotated[str | None, option("--storage", "Folder or URL for results; without it: results.")] = None,
    scratch: Annotated[str | None, option("--scratch", "Folder on each node for workspaces.")] = None,
    cache: Annotated[str | None, option("--cache", "Folder for what can be made again.")] = None,
    sandbox: Annotated[str | None, option("--sandbox", "auto, bubblewrap, apptainer, docker or process.")] = None,
    samples: Annotated[
        int | None, option("--samples", "Tries per run, each with the whole budget; the best by visible tests counts.")
    ] = None,
    network: Annotated[
        str | None, option("--network", "none, or allow=HOST,… for hosts that agents may reach besides the mirror.")
    ] = None,
    snapshot_every: Annotated[
        str | None, option("--snapshot-every", "Keep copies of the work as it goes: steps=5, minutes=10 or log.")
    ] = None,
    wandb: Annotated[str | None, option("--wandb", "disabled, offline or online; without it: WANDB_MODE.")] = None,
    void_retries: Annotated[int, option("--void-retries", "How often a lost attempt is tried again.")] = 2,
    only: Annotated[
        str, option("--only", "owed: all that is not done; new: never tried; void: tried in vain.")
    ] = "owed",
    order: Annotated[str, option("--order", "seeds: whole seeds first; makespan: the shortest total.")] = "seeds",
    root: Annotated[list[str] | None, option("--root", "A further folder with tasks/ and agents/.")] = None,
    offline: Annotated[bool, option("--offline", "Fetch and install nothing: it must be there already.")] = False,
    no_install: Annotated[bool, option("--no-install", "Install no agent: it must be there already.")] = False,
    max_hours: Annotated[
        float | None, option("--max-hours", "Start nothing that can't end by then; without it: Slurm's end time.")
    ] = None,
    wait_for_nodes: Annotated[
        bool, option("--wait-for-nodes", "Wait for nodes that an autoscaler may bring, whatever they hold.")
    ] = False,
    fresh_actors: Annotated[bool, option("--fresh-actors", "A new actor for every run.")] = False,
    dry_run: Annotated[bool, option("--dry-run", "Show the plan and start nothing.")] = False,
    quiet: Annotated[bool, option("--quiet", "Print no tables at the end.")] = False,
    json_: Json = False,
) -> None:
    """Run a study: agents × tasks × instances × seeds × budgets.

    The same command goes on with a study that was interrupted, and adds what is new. Finished runs are
    never run again.

    Examples:

      mldevbench run --agent oracle --agent noop --task debugging

      mldevbench run --agent react --model openai/gpt-4o --task all --seeds 5 --limit usd=100
    """
    from mldevbench.ask import Options, read_study

    if cache == os.environ.get("MLDEVBENCH_CACHE"):
        cache = None  # this machine's own; other nodes may have another
    if cache:
        os.environ["MLDEVBENCH_CACHE"] = cache
    for word, choices, flag in ((only, ("owed", "new", "void"), "--only"), (order, ("seeds", "makespan"), "--order")):
        if word not in choices:
            raise unknown(flag, word, choices)
    options = Options(
        agents=agent or (),
        models=model or (),
        tasks=task or (),
        exclude_tasks=exclude_task or (),
        name=name,
        profile=profile,
        seeds=seeds,
        instances=instances,
        budgets=budget or (),
        limit=limit,
        params=param or (),
        gpus=gpus_per_run,
        cpus=cpus_per_run,
        gpu_type=gpu_type,
        share_gpus=share_gpus,
        storage=storage,
        sandbox=sandbox,
        network=network,
        snapshot_every=snapshot_every,
        samples=samples,
        wandb=wandb,
    )
    study = read_study(study_file, options)
    from mldevbench.cli.running import Call, carry_out

    call = Call(
        study=study,
        roots=tuple(Path(folder) for folder in root or ()),
        prices=tuple(price or ()),
        api_base=api_base,
        env_file=env_file,
        address=address,
        scratch=scratch,
        cache=cache,
        void_retries=void_retries,
        only=only,
        order=order,
        fresh_actors=fresh_actors,
        max_hours=max_hours,
        wait_for_nodes=wait_for_nodes,
        offline=offline,
        no_install=no_install or offline,
        dry_run=dry_run,
        quiet=quiet,
        json=json_,
    )
    raise typer.Exit(carry_out(call))
