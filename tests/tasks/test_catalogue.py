"""Every task folder keeps the house rules, whoever adds it; no task code runs here."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

import pytest

from mldevbench.catalog import home
from mldevbench.task import CANARY, Task, load_task

FOLDERS = sorted(path.parent for path in (home() / "tasks").glob("*/*/task.yaml"))
SECRET_FOLDERS = ("hidden", "solution", "solutions_alt", "cheats", "mutants")
COMMENTED = {".py", ".sh", ".md", ".yaml", ".yml", ".toml", ".txt", ".cfg", ".patch", ".pth", ""}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work/|root/|home/|tmp/boot)|[A-Z]:\\\\")
SECRET_WORDS = re.compile(
    r"mldevbench|canary|validate\.py|hidden/|solutions?_alt|\bcheats?\b|\bmutants?\b", re.IGNORECASE
)
INSTALLED = ("torch", "numpy", "scikit-learn", "pandas", "pillow", "lightning", "transformers", "timm", "safetensors")


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def task(request: pytest.FixtureRequest) -> Task:
    return load_task(request.param)


def texts(folder: Path) -> list[tuple[Path, str]]:
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            try:
                found.append((path, path.read_text(encoding="utf-8")))
            except UnicodeDecodeError:
                continue
    return found


def names_in(instruction: str) -> set[str]:
    found = Template.pattern.finditer(instruction)
    return {match["named"] or match["braced"] for match in found if match["named"] or match["braced"]}


def test_there_are_tasks() -> None:
    assert {"hello_world", "nan_losses", "dataset_preprocessing"} <= {folder.name for folder in FOLDERS}


def test_both_profiles_have_the_same_names(task: Task) -> None:
    assert set(task.profiles) == {"mini", "full"}
    used = names_in(task.part("instruction.md").read_text(encoding="utf-8"))
    missing = {name: used & (set(task.profile("mini")) - set(values)) for name, values in task.profiles.items()}
    assert not any(missing.values()), missing


def test_instruction_tells_every_threshold(task: Task) -> None:
    instruction = task.part("instruction.md").read_text(encoding="utf-8")
    judge = task.part("validate.py").read_text(encoding="utf-8")
    bounds = {
        name for name in task.profile("mini") if re.match(r"(min|max)_|.*(tolerance|seconds|margin|error)$", name)
    }
    untold = {name for name in bounds if name in judge and name not in names_in(instruction)}
    derived = {name for name in untold if f'profile["{name}"]' in _data(task) or f"profile['{name}']" in _data(task)}
    assert untold == derived, f"instruction.md doesn't tell {sorted(untold - derived)}"


def _data(task: Task) -> str:
    path = task.part("data.py")
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def test_instruction_names_what_is_submitted_and_installed(task: Task) -> None:
    instruction = task.part("instruction.md").read_text(encoding="utf-8")
    for pattern in (*task.submission, *task.protected):
        stem = pattern.split("*")[0].rstrip("/") or pattern
        assert stem in instruction, f"instruction.md doesn't name {stem}"
    if "standard library is enough" not in instruction:
        assert [name for name in INSTALLED if name not in instruction] == []


def test_every_secret_file_carries_the_canary(task: Task) -> None:
    files = [(task.part("validate.py"), task.part("validate.py").read_text(encoding="utf-8"))]
    for name in SECRET_FOLDERS:
        files += texts(task.part(name))
    bare = [path for path, text in files if path.suffix in COMMENTED and CANARY not in text.split("\n\n")[0]]
    assert bare == []


def test_what_the_agent_sees_names_nothing_of_ours(task: Task) -> None:
    seen = [*texts(task.part("workspace")), *texts_of(task.part("instruction.md"))]
    telling = [(path.name, match[0]) for path, text in seen if (match := SECRET_WORDS.search(text))]
    assert telling == []


def texts_of(path: Path) -> list[tuple[Path, str]]:
    return [(path, path.read_text(encoding="utf-8"))]


def test_enough_variants_to_prove_it(task: Task) -> None:
    counts = {name: len(list(task.part(name).glob("*/"))) for name in ("solutions_alt", "cheats", "mutants")}
    assert task.part("solution").is_dir()
    assert counts["solutions_alt"] >= 1 and counts["cheats"] >= 4 and counts["mutants"] >= 3, counts


def test_no_variant_is_empty_or_repeats_another(task: Task) -> None:
    seen: dict[str, Path] = {}
    for folder in [*task.folder.glob("solution/"), *task.folder.glob("*/*/")]:
        if folder.parent.name in ("hidden", "workspace") or folder.name == "__pycache__":
            continue
        content = repr([(path.relative_to(folder).as_posix(), text) for path, text in texts(folder)])
        assert content != "[]", f"{folder} is empty"
        assert content not in seen, f"{folder} repeats {seen[content]}"
        seen[content] = folder


def test_no_machine_path(task: Task) -> None:
    found = [(path.name, match[0]) for path, text in texts(task.folder) if (match := MACHINE_PATH.search(text))]
    assert found == []


def test_says_where_it_differs_and_what_is_protected_exists(task: Task) -> None:
    assert task.file.differs, "task.yaml doesn't say how it differs from the original"
    if task.category != "extra" and any(name.startswith("min_") for name in task.profile("mini")):
        assert task.file.calibration, "a threshold without calibration"
