"""Both pages in a real browser: filter, sort, open, fold, compare, search, go back, reload, follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from report.studies import Made, made, small, usual_steps, write_trajectory
from view.chromium import Tab
from view.conftest import served

from mldevbench.records import Outcome
from mldevbench.store.lease import Lease

pytestmark = pytest.mark.slow
ROWS = "document.querySelectorAll('main tbody tr').length"


def column(tab: Tab, place: int) -> list[str]:
    return tab.texts(f"main tbody tr td:nth-child({place})")


def test_the_summary_says_what_it_rests_on(tab: Tab, page: str) -> None:
    tab.open(page)
    text = tab.run("document.querySelector('main').innerText")
    assert "profile mini, K = 6, 2 void, sandbox bubblewrap" in text
    assert "70% (16/23)" in text and "48 of 48" in text
    assert tab.run("document.title").startswith("Summary · mldevbench")


def test_runs_filter_sort_open_fold_and_go_back(tab: Tab, page: str) -> None:
    tab.open(f"{page}#/runs")
    assert tab.run(ROWS) == 48
    tab.type("#runs-search", "mla")
    tab.wait(f"{ROWS} === 12")
    tab.choose("#runs-label", "good")
    tab.wait(f"{ROWS} === 6")
    tab.click("thead button", "steps")
    tab.wait("document.querySelector('th[aria-sort=ascending]').textContent === 'steps'")
    first = [int(text) for text in column(tab, 9)]
    tab.click("thead button", "steps")
    tab.wait("document.querySelector('th[aria-sort=descending]')")
    assert [int(text) for text in column(tab, 9)] == sorted(first, reverse=True) != first
    there = tab.run("location.href")
    tab.call("Page.reload")
    tab.wait(f"document.readyState === 'complete' && {ROWS} === 6")
    assert tab.run("document.querySelector('#runs-search').value") == "mla"
    assert tab.run("document.querySelector('th[aria-sort=descending]').textContent") == "steps"
    tab.click("main td a")
    tab.wait("document.querySelectorAll('details.step').length === 12")
    assert "loss is finite" in tab.run("document.querySelector('main').innerText")
    opened = "[...document.querySelectorAll('details.step')].filter((one) => one.open).length"
    assert tab.run(opened) == 6, "turns of the model are open, outputs folded"
    tab.click("button", "Unfold all")
    tab.wait(f"{opened} === 12")
    tab.click("button", "Fold all")
    tab.wait(f"{opened} === 0")
    tab.click("details.step summary")
    tab.wait(f"{opened} === 1")
    tab.run("history.back()")
    tab.wait(f"{ROWS} === 6")
    assert tab.run("location.href") == there


def test_tables_sort_and_filter(tab: Tab, page: str) -> None:
    tab.open(f"{page}#/tables")
    tab.wait("document.querySelectorAll('main section').length >= 7")
    tab.click("#table-table4 thead button", "good cost")
    costs = tab.texts("#table-table4 tbody tr td:nth-child(2)")
    assert costs == sorted(costs, key=lambda text: float(text.strip("$"))) and len(costs) == 5


def test_a_link_to_a_step_survives_a_reload(tab: Tab, page: str, study: Made) -> None:
    run_id = study.rows[0].run_id
    tab.open(f"{page}#/run/{run_id}?attempt=1&step=7")
    for _ in range(2):
        tab.wait("document.querySelector('#step-7').classList.contains('found')")
        assert tab.run("document.querySelector('#step-7').open")
        tab.call("Page.reload")


def test_two_runs_side_by_side(tab: Tab, page: str) -> None:
    tab.open(f"{page}#/runs")
    tab.click("main td a", "compare")
    tab.wait("document.querySelector('.notice').textContent.includes('choose the other run')")
    tab.run("[...document.querySelectorAll('main td a')].filter((one) => one.textContent === 'with this')[1].click()")
    tab.wait("document.querySelectorAll('.sides article').length === 2")
    names = tab.texts(".sides article h1 small")
    assert len(set(names)) == 2
    tab.size(400, 800)
    tops = tab.run("[...document.querySelectorAll('.sides article')].map((one) => one.getBoundingClientRect().left)")
    assert tops[0] == tops[1], "on a narrow screen one stands under the other"
    assert tab.run("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"


def test_words_in_trajectories_are_found(tab: Tab, page: str) -> None:
    tab.open(f"{page}#/search")
    tab.type("#search", "EPOCH 3: loss")
    tab.key("Enter", 13)
    tab.wait("document.querySelectorAll('main li').length === 48")
    tab.click("main li a")
    tab.wait("document.querySelector('details.step.found').textContent.includes('epoch 3: loss')")


def test_the_keyboard_is_enough(tab: Tab, page: str) -> None:
    tab.open(f"{page}#/runs")
    tab.key("Tab", 9)
    assert tab.run("document.activeElement.textContent") == "Skip to content"
    tab.run("document.querySelector('thead button[data-sort=label]').focus()")
    tab.key("Enter", 13)
    tab.wait("document.querySelector('th[aria-sort]').textContent === 'label'")
    assert tab.run("document.activeElement.dataset.sort") == "label", "the focus stays where it was"
    named = "one.textContent.trim() || one.alt || one.ariaLabel || (one.labels && one.labels.length)"
    unnamed = f"[...document.querySelectorAll('input, select, button, a, img')].filter((one) => !({named})).length"
    assert tab.run(unnamed) == 0
    assert tab.run("document.querySelectorAll('h1').length") == 1


def test_outcomes_are_words_and_signs_not_colours_alone(tab: Tab, page: str) -> None:
    tab.open(f"{page}#/runs")
    assert set(column(tab, 2)) == {"✓ passed", "✗ failed", "⊘ void"}
    light = tab.run("getComputedStyle(document.body).backgroundColor")
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert tab.run("getComputedStyle(document.body).backgroundColor") != light
    tab.call("Emulation.setEmulatedMedia", features=[])


def test_a_running_study_is_followed(tab: Tab, tmp_path: Path) -> None:
    study = made(small())
    late, going = study.rows[-1], study.rows[-2]
    before = replace(study, rows=study.rows[:-2], checks=[], attempts=study.attempts[:-1])
    store = before.store(tmp_path)
    started = replace(next(one for one in study.attempts if one.run_id == going.run_id), phase="started", outcome=None)
    store.open()
    store.attempt(started)
    write_trajectory(store, going.run_id, usual_steps(2))
    lease = Lease(store.place)
    lease.take()
    with served(store) as server:
        tab.open(f"{server.url}#/runs")
        tab.wait(f"{ROWS} === 48")
        assert column(tab, 2).count("… owed") == 1 and column(tab, 2).count("▶ running") == 1
        tab.type("#runs-search", "poor")
        store.runs.put(0, [late])
        tab.wait("![...document.querySelectorAll('main td')].some((one) => one.textContent === '… owed')")
        assert tab.run("document.querySelector('#runs-search').value") == "poor", "what was typed stays"
        assert "1 new result" in tab.run("document.querySelector('#news').textContent")
        tab.open(f"{server.url}#/run/{going.run_id}")
        tab.wait("document.querySelectorAll('details.step').length === 4")
        write_trajectory(store, going.run_id, usual_steps(3))
        store.attempt(replace(started, detail="goes on"))
        tab.wait("document.querySelectorAll('details.step').length === 6")
        store.runs.put(0, [going])
        store.attempt(replace(started, phase="graded", outcome=going.outcome))
        lease.release()
        tab.wait(
            f"document.querySelector('h1').textContent.startsWith('{'✓' if going.outcome is Outcome.PASSED else '✗'}')"
        )


def test_a_study_without_a_result_has_a_page_too(tab: Tab, tmp_path: Path) -> None:
    store = replace(made(small()), rows=[], attempts=[], checks=[]).store(tmp_path)
    with served(store) as server:
        tab.open(f"{server.url}#/runs")
        tab.wait(f"{ROWS} === 48")
        tab.open(server.url)
        assert "0 of 48" in tab.run("document.querySelector('main').innerText")
        tab.open(f"{server.url}#/figures")


def test_figures_have_words_and_numbers(tab: Tab, live_page: str) -> None:
    tab.open(f"{live_page}#/figures")
    tab.wait("document.querySelectorAll('main figure img').length === 9")
    assert tab.run("[...document.querySelectorAll('main img')].every((one) => one.alt.length > 20 && one.complete)")
    tab.wait("[...document.querySelectorAll('main img')].every((one) => one.naturalWidth > 100)")
    assert "Not drawn: needs graded snapshots" in tab.run("document.querySelector('main').innerText")
