"""From the paper's reference results the tables come out as in the paper, cell by cell."""

from __future__ import annotations

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from mldevbench.cli.app import app
from mldevbench.report import render
from mldevbench.report.contents import all_tables, main_tables
from mldevbench.report.evidence import read_evidence
from mldevbench.report.table import Table

LABELS = ("react-sonnet", "openhands-sonnet", "aide-4o", "react-4o")
# As printed: share and count by category.
CATEGORIES = {
    "Dataset Handling": ("100% (3/3)", "100% (3/3)", "33% (1/3)", "0% (0/3)"),
    "Model Training": ("67% (4/6)", "83% (5/6)", "33% (2/6)", "50% (3/6)"),
    "Debugging": ("57% (4/7)", "57% (4/7)", "29% (2/7)", "14% (1/7)"),
    "Model Implementation": ("29% (2/7)", "29% (2/7)", "0% (0/7)", "0% (0/7)"),
    "API Integration": ("100% (1/1)", "100% (1/1)", "0% (0/1)", "100% (1/1)"),
    "Performance": ("0% (0/6)", "0% (0/6)", "0% (0/6)", "0% (0/6)"),
    "Total": ("47% (14/30)", "50% (15/30)", "17% (5/30)", "17% (5/30)"),
}
# Marks in the order of LABELS, then dollars and tokens of the two Sonnet agents.
TASKS = {
    "Dataset download - Noisy Imagenette": ("yynn", 0.129, 67426, 0.068, 25429),
    "Dataset download - dataset does not exist": ("yyyn", 0.018, 13735, 0.051, 16125),
    "Dataset preprocessing": ("yynn", 0.078, 27210, 0.103, 42277),
    "Pretrained model download - Torchvision": ("yyyy", 0.058, 22289, 0.044, 30596),
    "Pretrained model download - Huggingface": ("yynn", 0.096, 36592, 0.063, 24738),
    "Vision finetuning - classification": ("yynn", 0.176, 67034, 0.124, 54434),
    "Overfit on small dataset": ("yyyy", 0.093, 25642, 0.133, 52791),
    "Large training logs": ("nyny", 0.023, 35189, 0.185, 114903),
    "CIFAR10 Training": ("nnnn", 0.209, 71409, 0.288, 253445),
    "Fix problems in model and dataloader": ("nnnn", 0.376, 146826, 0.556, 785182),
    "Model forward pass - shape mismatches": ("yyyy", 0.069, 27629, 0.075, 44396),
    "Model Training - shape mismatches": ("yyyn", 0.289, 115568, 0.147, 92262),
    "NaN losses": ("yynn", 0.124, 40385, 0.212, 193801),
    "Correct norm for pretrained model": ("yynn", 0.380, 136831, 0.265, 313149),
    "TinyBERT Eval": ("nnnn", 0.313, 121773, 0.573, 762780),
    "ViT debugging": ("nnnn", 0.277, 84706, 1.496, 2526426),
    "Wandb integration": ("yyny", 0.155, 65810, 0.258, 266738),
    "ChannelViT - Easy": ("yynn", 1.090, 352141, 0.318, 267508),
    "ChannelViT": ("yynn", 1.060, 338055, 0.215, 177182),
    "ChannelViT - No tests": ("nnnn", 0.091, 33208, 0.121, 53475),
    "VAR implementation": ("nnnn", 0.051, 12473, 0.139, 59863),
    "Multi-head Latent Attention": ("nnnn", 3.164, 1022125, 1.910, 1706146),
    "Multi-head Latent Attention - hidden tests": ("nnnn", 0.160, 40068, 1.278, 380506),
    "Proximal Policy Optimization": ("nnnn", 0.369, 87988, 3.048, 904267),
    "Improve CIFAR-10 baseline - existing model ckpt": ("nnnn", 0.115, 29232, 0.401, 366660),
    "Noisy Imagenette": ("nnnn", 0.582, 192275, 0.288, 253445),
    "CIFAR-10 long tailed": ("nnnn", 0.089, 29659, 0.334, 351943),
    "Segmentation": ("nnnn", 0.118, 39662, 0.383, 395127),
    "BoolQ": ("nnnn", 0.343, 131458, 0.650, 993175),
    "CIFAR-100 baseline improvement": ("nnnn", None, None, None, None),
}


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return main_tables(read_evidence(["paper"], "results"))


def test_table_2_has_every_cell_of_the_paper(tables: list[Table]) -> None:
    table = tables[0]
    assert table.columns == ("category", *LABELS)
    assert [row[0] for row in table.rows[:7]] == list(CATEGORIES)
    for row in table.rows[:7]:
        for cell, printed in zip(row[1:], CATEGORIES[row[0]], strict=True):
            assert cell.startswith(printed), row[0]
            assert "[" in cell or row[0] == "API Integration", "one task has no interval, others have"


def test_table_3_has_every_cell_of_the_paper(tables: list[Table]) -> None:
    table = tables[1]
    assert table.columns == ("task", "category", *LABELS)
    assert [row[0] for row in table.rows] == list(TASKS)
    for row in table.rows:
        assert "".join({"✓": "y", "✗": "n"}[cell] for cell in row[2:]) == TASKS[row[0]][0], row[0]


def test_table_4_has_every_cell_of_the_paper(tables: list[Table]) -> None:
    table = tables[2]
    assert table.columns == ("task", *(f"{label} {what}" for label in LABELS[:2] for what in ("cost", "tokens")))
    printed = [(name, *values) for name, (_, *values) in TASKS.items() if values[0] is not None]
    assert len(printed) == 29
    said = [(name, f"${a:.3f}", f"{b:,}", f"${c:.3f}", f"{d:,}") for name, a, b, c, d in printed]
    assert list(table.rows[:-1]) == said
    assert (table.rows[-1][0], table.rows[-1][1], table.rows[-1][3]) == ("Total", "$10.095", "$13.726")
    assert "CIFAR-100" in table.note, "a task without any number is named, not shown as 0"


def test_titles_say_what_the_numbers_rest_on(tables: list[Table]) -> None:
    for table in tables:
        assert "(profile full, K = 1, 0 void, sandbox not told)" in table.title


def test_all_formats_hold_the_same_cells(tables: list[Table]) -> None:
    whole = all_tables(read_evidence(["paper"], "results"))
    read = json.loads(render(whole, "json"))
    assert read[0]["rows"][6]["react-sonnet"] == "47% (14/30) [30, 64]"
    assert read[0]["records"][-4] == {
        "category": "all", "label": "react-sonnet", "passed": 14, "judged": 30, "void": 0, "rate": 14 / 30,
        "low": pytest.approx(0.302, abs=0.001), "high": pytest.approx(0.639, abs=0.001), "these_low": None,
        "these_high": None,
    }  # fmt: skip
    lines = list(csv.reader(io.StringIO(render(whole, "csv"))))
    assert lines[7][1:] == list(tables[0].rows[6])
    assert r"Total & 47\% (14/30) [30, 64] & 50\% (15/30) [33, 67]" in render(whole, "tex")
    assert "| Total | $10.095 | 3,414,398 | $13.726 | 11,508,769 |" in render(whole, "md")
    assert "\nTotal: react-sonnet 47% (14/30) [30, 64], openhands-sonnet 50%" in render(whole, "plain")


def test_the_terminal_shows_them_too() -> None:
    text = CliRunner().invoke(app, ["report", "paper"], catch_exceptions=False).stdout
    for word in ("47% (14/30)", "50% (15/30)", "17% (5/30)", "$10.095", "$13.726", "Proximal Policy Optimization"):
        assert word in text
    plain = CliRunner().invoke(app, ["report", "paper", "--plain"], catch_exceptions=False).stdout
    assert "Total: react-sonnet cost $10.095" in plain and "│" not in plain
