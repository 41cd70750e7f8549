"""A task: one folder, read into a record; and the two digests that say what changed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mldevbench import digest, yamlfile
from mldevbench.errors import UserError, unknown
from mldevbench.records import Resources
from mldevbench.yamlfile import Strict

CANARY = "7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17"
PUBLIC = ("task.yaml", "instruction.md", "workspace", "data.py")
JUDGING = ("validate.py", "hidden")


class ResourceFile(Strict):
    cpus: float = 1
    gpus: float = 0
    memory_gb: float = 4
    disk_gb: float = 2


class ValidationFile(Strict):
    gpus: float = 0
    minutes: float = 5


class AssetFile(Strict):
    url: str
    bytes: int
    sha256: str
    licence: str
    source: str
    revision: str = ""
    held_out: bool = False  # test labels and the like: for judges only


class TaskFile(Strict):
    """What `task.yaml` may say."""

    version: Literal[1]
    suite: str | None = None  # a sibling whose parts this level of the same problem shares
    title: str
    summary: str
    skill: str
    difficulty: Literal["easy", "medium", "hard"]
    protected: list[str] = []
    submission: list[str]
    submission_max_mb: float = 200
    network: Literal["none", "mirror"] = "none"
    resources: ResourceFile = ResourceFile()
    validation: ValidationFile = ValidationFile()
    expected_minutes: float = 1
    differs: str = ""
    assets: dict[str, dict[str, AssetFile]] = {}
    profiles: dict[Literal["mini", "full"], dict[str, Any]]
    calibration: dict[str, Any] = {}
    score: str | None = None  # the metric of validate.py that is a run's score; none: the share of checks that hold


@dataclass(frozen=True)
class Task:
    """A benchmark problem; its folder's name is its id, the folder's parent its category."""

    id: str
    category: str
    folder: Path
    file: TaskFile

    @property
    def title(self) -> str:
        return self.file.title

    @property
    def summary(self) -> str:
        return self.file.summary

    @property
    def protected(self) -> tuple[str, ...]:
        return tuple(self.file.protected)

    @property
    def submission(self) -> tuple[str, ...]:
        return tuple(self.file.submission)

    @property
    def submission_max_mb(self) -> float:
        return self.file.submission_max_mb

    @property
    def network(self) -> str:
        return self.file.network

    @property
    def validation(self) -> ValidationFile:
        return self.file.validation

    @property
    def expected_minutes(self) -> float:
        return self.file.expected_minutes

    @property
    def profiles(self) -> Mapping[str, Mapping[str, Any]]:
        return {str(name): values for name, values in self.file.profiles.items()}

    @property
    def resources(self) -> Resources:
        asked = self.file.resources
        return Resources(asked.cpus, asked.gpus, asked.memory_gb, asked.disk_gb)

    def part(self, name: str) -> Path:
        """Return a part of the task: its own, else that of the sibling whose suite it shares."""
        own = self.folder / name
        if own.exists() or self.file.suite is None:
            return own
        return self.folder.parent / self.file.suite / name

    def profile(self, name: str) -> Mapping[str, Any]:
        if name not in self.profiles:
            raise unknown(f"profile of task {self.id}", name, self.profiles)
        return self.profiles[name]

    def task_digest(self, profile: str, venv_lock: str = "") -> str:
        """Cover what the agent can meet."""
        file = self.file
        met = {
            "task": self.id,
            "instruction": _text(self.part("instruction.md")),
            "workspace": digest.of_tree(self.part("workspace")),
            "data": _text(self.part("data.py")),
            "material": _material_digest(self.part("data.py")),
            "network": file.network,
            "protected": file.protected,
            "submission": [file.submission, file.submission_max_mb],
            "profile": [profile, self.profile(profile)],
            "resources": file.resources.model_dump(),
            "venv": venv_lock,
            "assets": {name: one.sha256 for name, one in file.assets.get(profile, {}).items() if not one.held_out},
        }
        return digest.of_value(met, 16)

    def validator_digest(self) -> str:
        """Cover what judges; it never enters a run's id."""
        package = Path(__file__).parent
        judges = {
            "validate": _text(self.part("validate.py")),
            "hidden": digest.of_tree(self.part("hidden")),
            "material": _material_digest(self.part("validate.py")),
            "checks": [
                digest.of_file(path)
                for path in _sources(package, ("checks", "room", "submission", "unmet", "validate"))
            ],
        } | ({"score": self.file.score} if self.file.score else {})
        return digest.of_value(judges, 16)


def load_task(folder: Path, whole: bool = True) -> Task:
    """Read a task folder, or its public half; whatever is wrong with it is said in one line."""
    if not (folder / "task.yaml").is_file():
        raise UserError(f"{folder}: has no task.yaml")
    task = Task(folder.name, folder.parent.name, folder.resolve(), yamlfile.load(folder / "task.yaml", TaskFile))
    for needed in ("instruction.md", *(("validate.py",) if whole else ())):
        if not task.part(needed).is_file():
            raise UserError(f"{folder}: has no {needed}; a task needs task.yaml, instruction.md and validate.py")
    return task


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _sources(package: Path, names: Iterable[str]) -> list[Path]:
    found: list[Path] = []
    for name in names:
        module, folder = package / f"{name}.py", package / name
        found += [module] if module.is_file() else sorted(folder.glob("**/*.py"))
    return found


def _material_digest(path: Path) -> str:
    """Cover the shared generators that a file imports, however deep."""
    package = Path(__file__).parent / "material"
    seen: dict[str, str] = {}
    waiting = [path] if path.is_file() else []
    while waiting:
        for name in _material_imports(waiting.pop()):
            source = package / f"{name}.py"
            if name not in seen and source.is_file():
                seen[name] = digest.of_file(source)
                waiting.append(source)
    return digest.of_value(seen)


def _material_imports(path: Path) -> set[str]:
    prefix = "mldevbench.material"
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == prefix:
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{prefix}."):
            names.add((node.module or "").split(".")[2])
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[2] for alias in node.names if alias.name.startswith(f"{prefix}.")}
    return names
