"""A browser, a study with trajectories, and both of its pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from report.studies import Made, made, small, usual_steps, write_trajectory
from view.chromium import BINARY, MISSING, Browser, Tab, browser

from mldevbench.report.contents import all_tables
from mldevbench.report.evidence import read_evidence
from mldevbench.report.page import write_page
from mldevbench.report.reading import read_trajectories
from mldevbench.store.study_store import StudyStore
from mldevbench.view import Server, serve


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not BINARY:
        pytest.fail(MISSING)
    with browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Tab]:
    """A tab whose console must stay silent."""
    opened = chromium.tab()
    opened.size(1200, 900)
    yield opened
    assert opened.problems == []
    assert opened.dialogs == 0


@contextmanager
def served(store: StudyStore) -> Iterator[Server]:
    with serve(store, store.name, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def study() -> Made:
    return made(small())


@pytest.fixture(scope="session")
def storage(tmp_path_factory: pytest.TempPathFactory, study: Made) -> Path:
    folder = tmp_path_factory.mktemp("storage")
    store = study.store(folder)
    for row in study.rows:
        write_trajectory(store, row.run_id, usual_steps(), row.attempts)
    return folder


@pytest.fixture(scope="session")
def file_page(storage: Path) -> str:
    """The page as a file, without its figures, which have tests of their own."""
    evidence = read_evidence(["made"], str(storage))
    path = storage / "report.html"
    write_page(evidence, path, all_tables(evidence), [], read_trajectories(evidence, str(storage)))
    return path.as_uri()


@pytest.fixture(scope="session")
def live_page(storage: Path) -> Iterator[str]:
    from mldevbench.store.study_store import find_study

    with served(find_study("made", str(storage))) as server:
        yield server.url


@pytest.fixture(params=["file", "live"])
def page(request: pytest.FixtureRequest) -> str:
    """Each of both pages in turn."""
    return request.getfixturevalue(f"{request.param}_page")
