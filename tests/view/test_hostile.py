"""Hostile trajectories, names and files are shown as text and harm nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from report.studies import Made, made, small, write_trajectory
from view.chromium import Browser, Tab
from view.conftest import served

from mldevbench.records import Step
from mldevbench.report import render
from mldevbench.report.contents import all_tables
from mldevbench.report.page import write_page
from mldevbench.report.reading import LONGEST_LINE, read_shown, read_trajectories
from mldevbench.report.visible import visible
from mldevbench.store.study_store import StudyStore
from mldevbench.trajectory import segment_name, stored_steps, to_line

MARKUP = [
    "<script>window.harmed = 1; alert(1)</script>",
    "</script><script>window.harmed = 2</script>",
    "<!--<script>", "]]>", "--></style><style>* { display: none }</style>",
    '<img src="x" onerror="window.harmed = 3">',
    '"><svg onload="window.harmed = 4">', "' onfocus='window.harmed = 5' autofocus='",
    '<a href="javascript:window.harmed = 6" id="main">x</a>', '<iframe srcdoc="<script>parent.harmed = 7</script>">',
    "<base href='//example.org/'>", "<meta http-equiv='refresh' content='0;url=//example.org/'>",
    "@data@ @script@ {{7*7}}", "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J", "a\u202eb\u2066c\u200fd",
    "line\u2028separators\u2029\x85here", "\x00\x01\x7f\x9b",
]  # fmt: skip
NAME = '<img src=x onerror="window.harmed=8">\u202e.txt'


def hostile() -> Made:
    rows = [row for row in small() if row.task == "mla"]
    found = made([replace(row, label=row.label + MARKUP[1], node=MARKUP[5], task=MARKUP[6]) for row in rows])
    checks = [replace(check, name=MARKUP[0], expected=MARKUP[8], seen=MARKUP[13]) for check in found.checks]
    attempts = [replace(one, detail="\n".join(MARKUP)) for one in found.attempts]
    return replace(found, checks=checks, attempts=attempts)


@pytest.fixture(scope="module")
def attack() -> Made:
    return hostile()


@pytest.fixture(scope="module")
def store(attack: Made, tmp_path_factory: pytest.TempPathFactory) -> StudyStore:
    store = attack.store(tmp_path_factory.mktemp("hostile"))
    first, second = attack.rows[0], attack.rows[1]
    steps = [Step("tool", text, tool=text[:40], arguments=text, number=place) for place, text in enumerate(MARKUP)]
    steps.append(Step("model", "a" * 900_000 + "THE END", reasoning="<b>" * 1000, number=99))
    write_trajectory(store, first.run_id, steps)
    folder = f"artifacts/{second.run_id}/1"
    long = to_line(Step("tool", "z")).encode()[:-1] + b', "x": "' + b"y" * 50_000_000 + b'"}'
    broken = [
        long, b'\xff\xfe{"role": "\xc3\x28"}', b"", b"null", b"[1,2", b'{"role": 1}', b"[" * 100_000,
        to_line(Step("tool", "after", number=7)).encode(), b'{"cut short',
    ]  # fmt: skip
    store.place.write(f"{folder}/{segment_name(0)}", b"\n".join(broken))
    store.place.write(f"{folder}/{NAME}", b"<script>window.harmed = 9</script>")
    store.place.write(f"artifacts/{second.run_id}/1/submission.tar", b"not a tar")
    return store


ELEMENTS = "document.querySelectorAll('main script, main img, main iframe, main base, main style, main meta').length"
LISTENERS = "[...document.querySelectorAll('main *')].flatMap((one) => one.getAttributeNames())"


def unharmed(tab: Tab) -> None:
    assert tab.run("window.harmed") is None
    assert tab.run(ELEMENTS) == 0
    assert tab.run("document.querySelectorAll('script').length") == 3
    assert not [name for name in tab.run(LISTENERS) if name.startswith("on")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "live"])
def test_markup_stays_text_on_both_pages(tab: Tab, store: StudyStore, attack: Made, kind: str, tmp_path: Path) -> None:
    run_id = attack.rows[0].run_id
    evidence = attack.evidence()
    storage = store.place.path.rsplit("/", 1)[0]
    write_page(evidence, tmp_path / "page.html", all_tables(evidence), [], read_trajectories(evidence, storage))
    with served(store) as server:
        url = server.url if kind == "live" else (tmp_path / "page.html").as_uri()
        for part in ("", "#/runs", "#/tables", "#/about", "#/search?q=%3Cscript%3E", f"#/run/{run_id}"):
            tab.open(url + part)
            unharmed(tab)
        tab.click("button", "Unfold all")
        shown = tab.run("document.querySelector('main').innerText")
        for text in MARKUP:
            assert visible(text) in shown, f"{text!r} isn't shown as it is"
        assert "␛[31mred␛[0m" in shown and "⟨U+202E⟩" in shown
        assert not any(sign in shown for sign in "\x1b\u202e\u2066\u200f\x9b")
        unharmed(tab)
        hostile_link = "#/run/%3Cimg%20src=x%20onerror=harmed=1%3E?step=%3Cscript%3E"
        tab.open(url + hostile_link)
        unharmed(tab)


@pytest.mark.slow
def test_long_lines_and_broken_text_are_shown_in_part(tab: Tab, store: StudyStore, attack: Made) -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    before = _kilobytes("VmRSS")
    run_id = attack.rows[1].run_id
    with served(store) as server:
        tab.open(f"{server.url}#/run/{run_id}")
        tab.wait("document.querySelectorAll('details.step').length === 8")
        tab.click("button", "Unfold all")
        shown = tab.run("document.querySelector('main').innerText")
        assert "a line of 50,000," in shown and len(shown) < 200_000
        assert "after" in shown, "what follows a broken line is shown too"
        assert sum("a line that is no step" in text for text in tab.texts("details.step")) == 6
        assert visible(NAME) in shown, "a file name with markup is a name"
        unharmed(tab)
    assert _kilobytes("VmHWM") - before < 300_000, "a long line is never held whole more than a few times"


def _kilobytes(name: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:"))


def test_reading_never_stops_and_keeps_both_ends(store: StudyStore, attack: Made) -> None:
    place = store.place.child(f"artifacts/{attack.rows[0].run_id}/1")
    steps = read_shown(place)
    assert [step.text for step in steps[:-1]] == MARKUP
    assert steps[-1].text.startswith("aaa") and steps[-1].text.endswith("THE END") and steps[-1].cut > 800_000
    broken = read_shown(store.place.child(f"artifacts/{attack.rows[1].run_id}/1"))
    assert broken[0].cut > LONGEST_LINE and broken[1].text.count("\ufffd") >= 3
    json.dumps([step.text for step in [*steps, *broken]], allow_nan=False).encode()


def test_the_terminal_and_other_readers_take_no_orders(store: StudyStore, attack: Made) -> None:
    place = store.place.child(f"artifacts/{attack.rows[0].run_id}/1")
    assert [step.text for step in stored_steps(place)][:-1] == MARKUP, "a line separator in a text doesn't cut it"
    for name in ("md", "csv", "tex", "plain"):
        text = render(all_tables(attack.evidence()), name)
        assert "\x1b" not in text and "\u202e" not in text
        assert name == "csv" or name == "plain" or "<script" not in text


@pytest.mark.slow
def test_the_policy_stops_what_would_slip_through(chromium: Browser, file_page: str) -> None:
    """If a hole were found, the browser itself would still refuse to run foreign code or to call home."""
    tab = chromium.tab()
    tab.open(file_page)
    added = "const one = document.createElement('script'); one.textContent = 'window.harmed = 1';"
    tab.run(f"(() => {{ {added} document.body.append(one); }})()")
    tab.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.harmed = 2\">')")
    tab.run("fetch('http://127.0.0.1:9/').catch(() => { window.refused = true })")
    tab.wait("window.refused === true")
    assert tab.run("window.harmed") is None
    said = " ".join(tab.problems)
    assert "script-src" in said and ("connect-src" in said or "default-src" in said)
