"""What a submitted job takes along: our own code, and the relative paths that its command names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mldevbench.catalog import home
from mldevbench.errors import UserError

if TYPE_CHECKING:
    from mldevbench.study import StudyFile

CODE = ("mldevbench", "cluster", "agents", "tasks")
# Ray would leave out what the ignore files name, which may be just what a task needs.
IGNORING = (".gitignore", ".rayignore")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*_cache", "*.egg-info", ".git", ".env", *IGNORING)
ROOT = ("tasks", "agents")  # what a --root is there for
OF_THIS_MACHINE = ("address", "cache")  # a setting of the shell that means nothing on the cluster


@dataclass(frozen=True)
class Parcel:
    """A command for the cluster and the paths that must travel with it."""

    words: tuple[str, ...]
    paths: tuple[Path, ...]
    name: str

    def lay_out(self, folder: Path) -> None:
        """Copy code and paths into a job's working folder; whatever isn't named stays at home."""
        for name in CODE:
            if (home() / name).is_dir():
                shutil.copytree(home() / name, folder / name, ignore=LEFT_OUT)
        for path in self.paths:
            target = folder / path
            if path.is_dir():
                shutil.copytree(path, target, ignore=LEFT_OUT, dirs_exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)


def parcel_of(command: str, words: Sequence[str]) -> Parcel:
    """Read a command as it will be read on the cluster, and refuse what can't work there."""
    complete = [*words, *_from_shell(command, words)]
    said = _parse(command, complete)
    study = _study_file(said.get("study_file"))
    _refuse_relative_storage(said, study)
    if said.get("env_file") and not Path(said["env_file"]).is_absolute():
        raise UserError(
            f"--env-file {said['env_file']}: keys don't travel; give the full path of a file on the cluster"
        )
    paths = tuple(dict.fromkeys(_travelling(said, study)))
    name = said.get("name") or (study.name if study else None) or said.get("study") or command
    return Parcel((command, *complete), paths, Path(name).name)


def _command(name: str) -> Any:
    import typer

    from mldevbench.cli.app import app

    return getattr(typer.main.get_command(app), "commands")[name]  # noqa: B009 - a group, as its type doesn't tell


def _parse(command: str, words: Sequence[str]) -> dict[str, Any]:
    found = _command(command)
    with found.context_class(found, info_name=f"mldevbench {command}", **found.context_settings) as context:
        said, rest, _ = found.make_parser(context).parse_args(list(words))
        if rest and not context.ignore_unknown_options:
            context.fail(f"Got unexpected extra arguments ({' '.join(rest)})")
    # What variance and scale don't know goes to run.
    known = {**(_parse("run", rest) if rest else {}), **{name: value for name, value in said.items() if value}}
    if str(known.get("study", "")).endswith((".yaml", ".yml")):
        known["study_file"] = known.pop("study")
    return known


def _from_shell(command: str, words: Sequence[str]) -> Iterator[str]:
    """Yield as options what the shell's MLDEVBENCH_ variables say: the shell's environment doesn't travel."""
    said = _parse(command, words)
    for option in _command(command).params:
        value = os.environ.get(str(getattr(option, "envvar", None)))
        if not value or option.name in said or option.name in OF_THIS_MACHINE:
            continue
        for one in value.split() if option.multiple else [value]:
            yield from [option.opts[0]] if option.is_flag else [option.opts[0], one]


def _study_file(said: str | None) -> StudyFile | None:
    from mldevbench.study import read_study_file

    if said is None or (Path(said).is_absolute() and not Path(said).exists()):
        return None
    return read_study_file(Path(said))


def _refuse_relative_storage(said: dict[str, Any], study: StudyFile | None) -> None:
    if ("study_file" in said and study is None) or "/" in said.get("study", ""):
        return  # only the cluster can read it
    storage = said.get("storage") or (study.storage if study else "results")
    if "://" not in storage and not Path(storage).is_absolute():
        raise UserError(
            f"--storage {storage!r} is relative: it would be lost with the job's folder; give a full path or a URL"
        )


def _travelling(said: dict[str, Any], study: StudyFile | None) -> Iterator[Path]:
    """Yield the relative paths; absolute ones are the cluster's own."""
    words = [said["study_file"]] if "study_file" in said else []
    words += [f"{root}/{part}" for root in said.get("root", ()) for part in ROOT if Path(root, part).is_dir()]
    entries = [word.partition("=")[::2] for word in said.get("agent", ())]
    entries += [(entry.agent, entry.model or "") for entry in study.agents] if study else []
    words += [agent for agent, _ in entries if "/" in agent or agent.startswith(".")]
    models = [*said.get("model", ()), *(model for _, model in entries)]
    words += [model.removeprefix("scripted/") for model in models if model.startswith("scripted/")]
    for path in map(Path, words):
        if path.is_absolute():
            continue
        if ".." in path.parts:
            raise UserError(f"{path} lies above this folder, so it can't travel with a job; submit from further up")
        if not path.exists():
            raise UserError(f"{path} isn't there, and only what is here can travel with a job")
        yield path
