"""`make screenshots`: the main views of both pages, for the docs and for a person to look at."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from report.studies import made, small, usual_steps, write_trajectory
from view.chromium import browser
from view.conftest import served

from mldevbench.report.contents import all_tables
from mldevbench.report.evidence import read_evidence
from mldevbench.report.figures import all_figures
from mldevbench.report.page import write_page

VIEWS = (
    ("paper-summary", "file", "", 1000, 640, False),
    ("paper-figures", "file", "#/figures", 1000, 1100, False),
    ("runs", "live", "#/runs?sort=cost", 1100, 620, True),
    ("run", "live", "#/run/{run}", 1000, 1000, False),
    ("compare", "live", "#/compare/{run}/{other}", 1100, 900, False),
    ("narrow", "live", "#/runs", 390, 720, False),
)


def take(folder: Path, scratch: Path) -> None:
    study = made(small(), snapshots=True)
    store = study.store(scratch, "example")
    for row in study.rows:
        write_trajectory(store, row.run_id, usual_steps(), row.attempts)
    evidence = read_evidence(["paper"], str(scratch))
    page = scratch / "paper.html"
    write_page(evidence, page, all_tables(evidence), all_figures(evidence))
    names = {"run": study.rows[10].run_id, "other": study.rows[34].run_id}
    with browser(scratch) as opened, served(store) as server:
        tab = opened.tab()
        for name, kind, place, width, height, dark in VIEWS:
            tab.size(width, height)
            tab.open((server.url if kind == "live" else page.as_uri()) + place.format(**names))
            tab.wait("[...document.images].every((one) => one.complete)")
            tab.screenshot(folder / f"{name}.png", width, height, dark)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        take(target, Path(temporary))
