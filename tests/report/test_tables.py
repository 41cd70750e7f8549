"""Tables of our own studies: void beside rates, whole seeds, columns that are never pooled, why runs ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from report.studies import made, small
from stats.making import rows_of
from typer.testing import CliRunner

from mldevbench.cli.app import app
from mldevbench.errors import UserError
from mldevbench.report.contents import all_tables, main_tables
from mldevbench.report.costs import cost_by_task
from mldevbench.report.evidence import Evidence
from mldevbench.report.table import Table
from mldevbench.report.tables import outcomes_by_task, success_by_category


def named(evidence: Evidence, name: str) -> Table:
    return next(table for table in all_tables(evidence) if table.name == name)


def test_void_stands_beside_every_rate() -> None:
    table = success_by_category(small())
    cells = {row[0]: row[1:] for row in table.rows}
    assert cells["Total"][0].startswith("70% (16/23)") and cells["Total"][0].endswith("1 void")
    assert cells["Void"] == ("1", "1")
    assert cells["Total, void as failed"] == ("67%", "25%") and cells["Total, void as passed"] == ("71%", "29%")
    marks = {row[0]: row[2:] for row in outcomes_by_task(small()).rows}
    assert marks["Multi-head Latent Attention"] == ("4/5 (1 void)", "0/6")


def test_an_incomplete_study_says_so_and_counts_whole_seeds_only() -> None:
    rows = [row for row in small() if (row.seed, row.task) != (5, "mla")]
    study = made(rows)
    whole, partial = study.evidence(), study.evidence(partial=True)
    assert "K = 5" in whole.scope.heading
    assert "incomplete: 46 of 48 runs, complete seeds only" in main_tables(whole)[0].title
    assert {row.seed for row in whole.rows} == {0, 1, 2, 3, 4}
    assert len(partial.rows) == 46 and "K = 5–6" in partial.scope.heading
    assert "partial seeds included" in partial.scope.heading


def test_no_whole_seed_is_an_error_with_a_remedy() -> None:
    study = made(small(), more_seeds=0)
    with pytest.raises(UserError, match="--partial shows what is there"):
        made([row for row in study.rows if row.task != "mla" or row.label == "good" or row.seed > 5]).evidence()


def test_budgets_profiles_and_studies_are_never_pooled() -> None:
    rows = [*rows_of("a", {"t": "11"}, budget_steps=10), *rows_of("a", {"t": "00"}, budget_steps=20)]
    assert success_by_category(rows).columns == ("category", "a (steps=10,minutes=60)", "a (steps=20,minutes=60)")
    rows = [*rows_of("a", {"t": "11"}), *rows_of("a", {"t": "00"}, study="other")]
    assert success_by_category(rows).columns == ("category", "a (made)", "a (other)")
    rows = [*rows_of("a", {"t": "11"}), *rows_of("a", {"t": "00"}, profile="full")]
    assert success_by_category(rows).columns == ("category", "a (full)", "a (mini)")


def test_unknown_cost_is_a_dash_and_half_known_is_said() -> None:
    rows = rows_of("a", {"t": "11", "u": "10"}, total_tokens=5)
    rows[0] = rows_of("a", {"t": "1"}, cost_usd=None, total_tokens=5)[0]
    rows += rows_of("b", {"t": "1"}, cost_usd=None, total_tokens=7)
    cells = {row[0]: row for row in cost_by_task(rows).rows}
    assert cells["t"] == ("t", "$0.500 (1/2 known)", "5", "–", "7")
    assert cells["u"][3:] == ("–", "–")


def test_dollars_per_success_without_a_success_are_a_bound() -> None:
    effort = named(made(small()).evidence(), "effort")
    cells = {row[0]: dict(zip(effort.columns, row, strict=True)) for row in effort.rows}
    assert cells["Multi-head Latent Attention"]["poor $ per success"] == ">$1.200"
    assert cells["NaN losses"]["good $ per success"] == "$0.100"
    assert cells["NaN losses"]["good steps"] == "7.5" and cells["NaN losses"]["good working time"] == "30.5 s"


def test_why_runs_ended() -> None:
    evidence = made(small()).evidence()
    stops = named(evidence, "stops").rows
    assert ("good", "steps", "out of budget", "2", "4", "0", "6") in stops
    assert ("poor", "not told", "unknown", "0", "0", "1", "1") in stops
    assert ("BoolQ", "loss is finite (4/4)", "loss is finite (5/5)") in named(evidence, "checks").rows
    assert ("node_lost", "good", "node-1", "1", "1") in named(evidence, "void").rows
    lost = named(evidence, "lost")
    assert lost.rows[0][:4] == ("good", "2", "2", "$0.450")


@pytest.mark.slow
def test_out_writes_everything_that_a_publication_needs(tmp_path: Path) -> None:
    made(small(), snapshots=True).store(tmp_path)
    words = ["report", "made", "--storage", str(tmp_path), "--out", str(tmp_path / "out")]
    CliRunner().invoke(app, words, catch_exceptions=False)
    found = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    wanted = {"tables.md", "tables.csv", "tables.tex", "tables.json", "tables.txt", "table2.csv", "methods.md"}
    wanted |= {"methods.tex", "provenance.json", "references.bib", "report.html", "figures.md"}
    figures = ("forest", "heat", "attempts", "pareto", "paired", "variance", "scaling", "surface", "gantt", "time")
    wanted |= {f"figures/{name}.{ending}" for name in figures for ending in ("svg", "png", "csv")}
    assert wanted <= found
    methods = (tmp_path / "out" / "methods.md").read_text(encoding="utf-8")
    for said in ("good, poor", "4 tasks", "profile mini", "6 runs of each", "bubblewrap", "2 runs of 48 were lost"):
        assert said in methods


@pytest.mark.slow
def test_wrong_use_is_told_in_one_line() -> None:
    refused = CliRunner().invoke(app, ["report", "paper", "--trajectories"])
    assert "--html FILE" in str(refused.exception)
    refused = CliRunner().invoke(app, ["report", "paper", "--html", "/dev/null/x/y.html"])
    assert isinstance(refused.exception, UserError) and "choose another" in str(refused.exception)
