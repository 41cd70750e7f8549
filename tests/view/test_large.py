"""Ten thousand runs: a report in seconds, a page that is there at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from report.large import LABELS, SEEDS, TASKS, large
from report.studies import made, small
from view.chromium import Tab

RUNS = LABELS * TASKS * SEEDS
PAINT = "performance.getEntriesByName('first-contentful-paint').map((one) => one.startTime)[0]"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float, float]:
    """Return the page of a large study, the processor seconds that it took and the megabytes."""
    folder = tmp_path_factory.mktemp("large")
    large().store(folder, "large")
    path = folder / "large.html"
    command = [sys.executable, "-m", "mldevbench", "report", "large", "--storage", str(folder), "--html", str(path)]
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return path, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


@pytest.mark.slow
def test_a_report_of_ten_thousand_runs_is_quick_and_small(page: tuple[Path, float, float]) -> None:
    path, seconds, megabytes = page
    print(f"{seconds:.1f} s of processor time, {megabytes:.0f} MB, page {path.stat().st_size / 1e6:.1f} MB")
    assert seconds < 15, "processor time, so that a busy neighbour doesn't count"
    assert megabytes < 1000


@pytest.mark.slow
def test_the_first_paint_comes_at_once_and_rows_are_paged(tab: Tab, page: tuple[Path, float, float]) -> None:
    tab.open(page[0].as_uri())
    tab.wait(f"{PAINT} > 0")
    best = tab.run(PAINT)
    for _ in range(3):  # the best of some: a busy neighbour doesn't count
        if best < 2000:
            break
        tab.open(page[0].as_uri())
        best = min(best, tab.wait(PAINT))
    assert best < 2000
    tab.open(f"{page[0].as_uri()}#/runs")
    assert f"{RUNS:,} of {RUNS:,} runs" in tab.run("document.querySelector('main').innerText")
    assert tab.run("document.querySelectorAll('tbody tr').length") == 50
    tab.click("thead button", "cost")
    tab.click("button", "Next")
    tab.wait("document.querySelector('main').innerText.includes('51–100 of')")
    tab.click("main td a")
    tab.wait("document.querySelector('main').innerText.includes('loss is finite')")


@pytest.mark.slow
def test_a_page_of_three_hundred_runs_is_under_five_megabytes(tmp_path: Path) -> None:
    large(tasks=30, seeds=2).store(tmp_path, "usual")
    path = tmp_path / "usual.html"
    command = [sys.executable, "-m", "mldevbench", "report", "usual", "--storage", str(tmp_path), "--html", str(path)]
    subprocess.run(command, check=True)
    assert path.stat().st_size < 5_000_000


def test_a_page_asks_nothing_of_anyone(tmp_path: Path) -> None:
    from mldevbench.report.contents import all_tables
    from mldevbench.report.page import page_text

    evidence = made(small()).evidence()
    text = page_text(evidence, all_tables(evidence), [])
    for word in ('src="http', 'href="http', "url(http", "@import", "innerHTML", "eval("):
        assert word not in text
