"""Every figure is drawn from a small study and from degenerate ones, without error and without a lie."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from report.studies import Made, made, small

from mldevbench.records import Outcome, RunRow
from mldevbench.report.evidence import read_evidence
from mldevbench.report.figures import Figure, all_figures, image_of, write_figure
from mldevbench.report.figures.lanes import nodes_of

NAMES = ("forest", "heat", "attempts", "pareto", "paired", "variance", "gantt", "time", "scaling", "surface")


def one_run() -> list[RunRow]:
    return [row for row in small() if (row.label, row.task, row.seed) == ("good", "mla", 0)]


def no_success() -> list[RunRow]:
    return [row for row in small() if row.outcome is not Outcome.PASSED and row.task in ("mla", "boolq")]


def all_void() -> list[RunRow]:
    return [row for row in small() if row.outcome is Outcome.VOID]


def one_task() -> list[RunRow]:
    return [row for row in small() if row.task == "vit_debugging"]


def nothing_known() -> list[RunRow]:
    unknown = {"cost_usd": None, "spent_usd": None, "node": None, "steps": 0, "total_tokens": 0, "wall_seconds": 0.0}
    return small(**unknown, gpu_seconds=0.0, spent_gpu_seconds=0.0, gpus=0.0)


def strange_names() -> list[RunRow]:
    rows = one_task()
    names = {"good": "a_$x$ <b>&\x1b[31m\u202e", "poor": "名前 " + "very-long-" * 30}
    return [replace(row, label=names[row.label], task="t^{$_\\") for row in rows]


DEGENERATE = {
    "one run": one_run, "no success": no_success, "all void": all_void, "one task": one_task,
    "nothing known": nothing_known, "strange names": strange_names,
}  # fmt: skip
# What can't be drawn honestly is named instead.
ABSENT = {
    "one run": {"attempts", "paired", "variance", "surface"},
    "no success": {"surface"},
    "all void": {"forest", "attempts", "pareto", "paired", "variance", "scaling", "surface"},
    "one task": {"surface"},
    "nothing known": {"pareto", "scaling", "surface", "gantt", "time"},
    "strange names": {"surface"},
}


def figures_of(study: Made) -> dict[str, Figure]:
    return {figure.name: figure for figure in all_figures(study.evidence(partial=True))}


@pytest.mark.slow
def test_a_small_study_draws_every_figure_with_its_numbers(tmp_path: Path) -> None:
    drawn = figures_of(made(small(), snapshots=True))
    assert tuple(drawn) == NAMES
    for figure in drawn.values():
        svg, png, numbers = write_figure(figure, tmp_path)
        assert svg.read_bytes().startswith(b"<?xml") and b"<script" not in svg.read_bytes()
        assert png.read_bytes().startswith(b"\x89PNG")
        rows = list(csv.reader(numbers.read_text(encoding="utf-8").splitlines()))
        assert len(rows) > 1 and tuple(rows[0]) == figure.data.columns
        assert len(figure.alt) > 20, "a figure says in words what it shows"
        assert "profile mini, K = 6, 2 void, sandbox bubblewrap" in figure.title


@pytest.mark.slow
@pytest.mark.parametrize("name", DEGENERATE)
def test_a_degenerate_study_is_drawn_or_says_why_not(name: str) -> None:
    found = figures_of(made(DEGENERATE[name]()))
    assert {figure.name for figure in found.values() if figure.absent} == ABSENT[name]
    for figure in found.values():
        if figure.draw:
            assert image_of(figure, "svg")
            assert figure.data.rows


def test_the_same_study_gives_the_same_picture() -> None:
    first, second = (figures_of(made(one_task()))["variance"] for _ in range(2))
    assert image_of(first, "svg") == image_of(second, "svg")


def test_numbers_of_a_degenerate_study_do_not_claim_what_nobody_saw() -> None:
    forest = figures_of(made(one_run()))["forest"]
    rate = dict(zip(forest.data.columns, forest.data.rows[0], strict=True))
    assert (rate["rate"], rate["low"], rate["high"]) == (1.0, None, None), "one run has no interval"
    heat = figures_of(made(all_void()))["heat"]
    assert {row[2] for row in heat.data.rows} <= {None} and {row[3] for row in heat.data.rows} == {"void", "–"}
    parts = figures_of(made(one_task()))["variance"].data.rows
    assert {(row[1], row[2]) for row in parts if row[1] in ("task", "instance", "validator")} == {
        ("task", None), ("instance", None), ("validator", None),
    }  # fmt: skip


def test_published_results_are_not_replayed() -> None:
    absent = {figure.name for figure in all_figures(read_evidence(["paper"], "results")) if figure.absent}
    assert absent == {"attempts", "scaling", "surface", "gantt", "time"}


def test_lanes_hold_one_run_at_a_time_and_losses_are_counted() -> None:
    nodes = nodes_of(made(small()).evidence())
    assert [node.name for node in nodes] == ["node-0", "node-1"]
    for node in nodes:
        for lane in range(node.lanes):
            spans = sorted((span.start, span.end) for span in node.spans if span.lane == lane)
            assert all(before[1] <= after[0] for before, after in pairwise(spans))
        assert 0 < node.busy <= 1
    assert sum(span.phase == "lost" for node in nodes for span in node.spans) == 4


def test_the_front_says_how_often_it_stands() -> None:
    figure = figures_of(made(small()))["pareto"]
    shares = {row[0]: row[-1] for row in figure.data.rows}
    assert shares["good"] == 1.0 and 0 < float(str(shares["poor"])) <= 1, "at one cost a tie is possible, no more"
    alone = figures_of(made(one_task()))["pareto"]
    assert {row[-1] for row in alone.data.rows} == {None}, "one task drawn again is the same task"


def test_a_place_without_a_panel_stays_empty() -> None:
    from matplotlib.figure import Figure as Canvas

    rows = [replace(row, label=f"{row.label}-{copy}") for copy in range(2) for row in small()]
    figure = figures_of(made(row for row in rows if row.label != "poor-1"))["scaling"]
    canvas = Canvas()
    assert figure.draw
    figure.draw(canvas)
    assert [axes.axison for axes in canvas.axes] == [True, True, True, False]


def test_the_best_is_corrected_for_all_that_it_was_chosen_from() -> None:
    (paired,) = (one for one in all_figures(read_evidence(["paper"], "results")) if one.name == "paired")
    assert paired.alt.count("p = 0.0117 (Holm)") == 2, "as `compare paper` says"


def test_held_time_is_split_without_loss() -> None:
    figure = figures_of(made(small()))["time"]
    for _, held, *parts in figure.data.rows:
        assert sum(float(str(part)) for part in parts) == pytest.approx(float(str(held)))
    assert "Where GPU time went" in figure.title
