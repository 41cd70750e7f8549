"""The figures in the documents are those that `make bench` wrote."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parents[2]


@pytest.fixture
def figure() -> ModuleType:
    path = HERE / "benchmarks" / "figure.py"
    spec = importlib.util.spec_from_file_location("figure", path)
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


def test_readme_and_page_show_what_was_measured(figure: ModuleType) -> None:
    figures, about = figure.read()
    readme = figure.README.read_text(encoding="utf-8")
    assert figure.with_block(readme, figures) == readme
    assert figure.PAGE.read_text(encoding="utf-8") == figure.page(figures, about)
    assert {one.name for one in figures} >= set(figure.SHOWN)


def test_another_figure_would_be_noticed(figure: ModuleType) -> None:
    figures, _ = figure.read()
    readme = figure.README.read_text(encoding="utf-8")
    changed = [figure.Figure(one.group, one.name, one.value + 1000, one.unit) for one in figures]
    assert figure.with_block(readme, changed) != readme
