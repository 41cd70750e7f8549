"""Runs AIDE's search inside the sandbox, with the gateway's model; what it tries stays out of the workspace.

AIDE's own interpreter would run scripts in its own Python. Scripts are run by the task's Python instead, each in
a fresh copy of the workspace, through the callback that AIDE's search asks for.
"""

import gc
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

gc.disable()  # until all is imported: looking through it again and again takes a quarter of the time
sys.path.insert(0, "/run")

import openai
from aide import Agent, Journal
from aide.interpreter import ExecutionResult
from aide.utils.config import _load_cfg, load_task_desc, prep_agent_workspace, prep_cfg
from report import tell

gc.freeze()
gc.enable()

MODEL = "benchmark"  # an alias: names such as gpt-4o would be sent to another address
WORKSPACE, FOLDER = Path.cwd(), Path.home() / "aide"
LOST_IN_A_ROW = 3
SHOWN = 60_000  # characters of a script's output
WHERE = """All files of the task are in the current folder (`./input` is the same folder under another name). Your
script is run there. It must itself make, relative to the current folder, every file that the task asks for, and change
the files that the task wants changed. It should print how well the result does, as a decimal number."""


def configuration(settings):
    config = _load_cfg(use_cli_args=False)
    config.data_dir, config.goal, config.eval = str(FOLDER / "data"), settings["instruction"], WHERE
    config.log_dir, config.workspace_dir = str(FOLDER / "logs"), str(FOLDER / "workspaces")
    config.preprocess_data = config.copy_data = config.generate_report = False
    config.exec.timeout = max(1, int(settings["run_seconds"]))
    config.agent.steps, config.agent.k_fold_validation = settings["steps"], 1
    config.agent.search.num_drafts = settings["drafts"]
    config.agent.search.debug_prob = settings["debug_probability"]
    config.agent.search.max_debug_depth = settings["debug_depth"]
    for stage in (config.agent.code, config.agent.feedback):
        stage.model, stage.temp = MODEL, settings["temperature"]
    return prep_cfg(config)


def show_data():
    """Let AIDE see the task's files, and not the folder that it works in itself."""
    (FOLDER / "data").mkdir(parents=True)
    for path in WORKSPACE.iterdir():
        if path.name != ".home":
            (FOLDER / "data" / path.name).symlink_to(path)


def fresh_copy():
    folder = FOLDER / "run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(WORKSPACE, folder, symlinks=True, ignore=lambda where, names: {".home"} & set(names))
    if not (folder / "input").exists():
        (folder / "input").symlink_to(".")
    (folder / "working").mkdir(exist_ok=True)
    return folder


class Scripts:
    """Runs what AIDE writes; has the form of its interpreter's `run`."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, code, reset_session=True):
        folder = fresh_copy()
        (folder / "runfile.py").write_text(code, encoding="utf-8")
        started = time.monotonic()
        output, exit_code = self._run(folder)
        took = time.monotonic() - started
        failed = None if exit_code == 0 else exception_in(output, exit_code)
        tell("tool", output, tool="run_script", arguments={"code": code}, exit_code=exit_code, seconds=took)
        closing = f"It ran for {took:.0f} seconds; the limit is {self.seconds} seconds."
        return ExecutionResult([output, "\n", closing], took, failed)

    def _run(self, folder):
        process = subprocess.Popen(
            ["python", "runfile.py"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        late = False
        try:
            output, _ = process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            late = True
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        text = output.decode(errors="replace")
        text = text if len(text) <= SHOWN else f"{text[: SHOWN // 2]}\n…\n{text[-SHOWN // 2 :]}"
        return (
            (f"{text}\nTimeoutError: stopped after {self.seconds} seconds", 124) if late else (text, process.returncode)
        )


def exception_in(output, exit_code):
    """Return the name of the error that ended a script."""
    names = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception|Interrupt|Exit))\b", output, re.MULTILINE)
    return names[-1] if names else f"exit code {exit_code}"


def describe(node):
    parent = f" of node {node.parent.step}" if node.parent else ""
    value = "none" if node.metric is None or node.metric.value is None else node.metric.value
    return (
        f"node {node.step} ({node.stage_name}{parent}): metric {value}, "
        f"{'buggy' if node.is_buggy else 'good'}\nplan: {node.plan}\nanalysis: {node.analysis}"
    )


def keep_best(journal):
    best = journal.get_best_node(only_good=False)
    if best is not None and best.code:
        (FOLDER / "best.py").write_text(best.code, encoding="utf-8")


def search(agent, journal, settings):
    """Take AIDE's steps until they are done or the model says no; return why it ended."""
    scripts, lost = Scripts(max(1, int(settings["run_seconds"]))), 0
    while len(journal) < settings["steps"]:
        try:
            agent.step(exec_callback=scripts)
        except openai.APIStatusError as error:
            return f"the model says no: {error.status_code}"
        except Exception as error:  # AIDE ends on an answer that it can't read; one such answer need not end all
            lost += 1
            tell("note", f"a step was lost: {type(error).__name__}: {error}")
            if lost == LOST_IN_A_ROW:
                return f"{lost} steps in a row were lost"
            continue
        lost = 0
        tell("note", describe(journal[-1]))
        keep_best(journal)
    return "all steps are done"


def main():
    settings = json.load(sys.stdin)
    random.seed(settings["seed"])
    show_data()
    config = configuration(settings)
    prep_agent_workspace(config)
    journal = Journal()
    agent = Agent(load_task_desc(config), config, journal)
    ended = search(agent, journal, settings)
    best = journal.get_best_node()
    tell("note", f"AIDE ended: {ended}; best: {describe(best) if best else 'nothing good'}")


main()
