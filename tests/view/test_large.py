"""Ten thousand runs: a report in seconds, a page that is there at once."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from report.large import LABELS, SEEDS, TASKS, large
from report.studies import Made, made, small
from view.chromium import Tab

RUNS = LABELS * TASKS * SEEDS
# A child's ru_maxrss begins with what its parent held when it was made; VmHWM is of the program alone.
MEASURED = """
import atexit, pathlib, re, time
peak = lambda: re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]
atexit.register(lambda: print(f"\\n{time.process_time()} {peak()}"))
from mldevbench.cli import main
main()
"""
PAINT = "performance.getEntriesByName('first-contentful-paint').map((one) => one.startTime)[0]"


@dataclass(frozen=True)
class Page:
    path: Path
    seconds: float  # of processor time
    megabytes: float


def report(folder: Path, study: Made) -> Page:
    """Make the page of a study by the command, in a process of its own."""
    study.store(folder, "study")
    path = folder / "page.html"
    command = [sys.executable, "-c", MEASURED, "report", "study", "--storage", str(folder), "--html", str(path)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    seconds, kilobytes = out.splitlines()[-1].split()
    return Page(path, float(seconds), int(kilobytes) / 1024)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return report(tmp_path_factory.mktemp("large"), large())


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The page of three hundred runs."""
    return report(tmp_path_factory.mktemp("usual"), large(tasks=30, seeds=2))


@pytest.mark.slow
def test_a_report_of_ten_thousand_runs_is_quick_and_small(page: Page, usual: Page) -> None:
    """Fifteen seconds where nobody else is at work; a busy machine stretches a small report alike."""
    print(f"{page.seconds:.1f} s of processor time against {usual.seconds:.1f} s, {page.megabytes:.0f} MB")
    print(f"{usual.path.stat().st_size / 1e6:.1f} MB for 300 runs")
    assert page.seconds < max(15, 3 * usual.seconds)
    assert page.megabytes < 1000
    assert usual.path.stat().st_size < 5_000_000


@pytest.mark.slow
def test_the_first_paint_comes_at_once_and_rows_are_paged(tab: Tab, page: Page, usual: Page) -> None:
    tab.open(usual.path.as_uri())
    least = tab.wait(PAINT)
    tab.open(page.path.as_uri())
    tab.wait(f"{PAINT} > 0")
    best = tab.run(PAINT)
    for _ in range(3):  # the best of some, beside a small page: a busy neighbour doesn't count
        if best < 2000:
            break
        tab.open(page.path.as_uri())
        best = min(best, tab.wait(PAINT))
    print(f"first paint after {best:.0f} ms, that of a small page after {least:.0f} ms")
    assert best < max(2000, 10 * least)
    tab.open(f"{page.path.as_uri()}#/runs")
    assert f"{RUNS:,} of {RUNS:,} runs" in tab.run("document.querySelector('main').innerText")
    assert tab.run("document.querySelectorAll('tbody tr').length") == 50
    tab.click("thead button", "cost")
    tab.click("button", "Next")
    tab.wait("document.querySelector('main').innerText.includes('51–100 of')")
    tab.click("main td a")
    tab.wait("document.querySelector('main').innerText.includes('loss is finite')")


def test_a_page_asks_nothing_of_anyone(tmp_path: Path) -> None:
    from mldevbench.report.contents import all_tables
    from mldevbench.report.page import page_text

    evidence = made(small()).evidence()
    text = page_text(evidence, all_tables(evidence), [])
    for word in ('src="http', 'href="http', "url(http", "@import", "innerHTML", "eval("):
        assert word not in text
