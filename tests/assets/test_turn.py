"""Taking turns without file locks: one at a time, and the dead don't hold others up."""

from __future__ import annotations

import threading
from pathlib import Path

from mldevbench.assets.turn import Watched, turn


def test_one_at_a_time(tmp_path: Path) -> None:
    inside, most, seen = 0, 0, []

    def work() -> None:
        nonlocal inside, most
        with turn(tmp_path / "lock"):
            inside += 1
            most = max(most, inside)
            seen.append(1)
            inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert (most, len(seen)) == (1, 6) and not list(tmp_path.iterdir())


def test_a_dead_holder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("a machine that is gone", encoding="utf-8")
    with turn(tmp_path / "lock", stale_seconds=0.2):
        assert "gone" not in (tmp_path / "lock").read_text(encoding="utf-8")
    assert not list(tmp_path.iterdir())


def test_a_holder_that_shows_life_is_waited_for(tmp_path: Path) -> None:
    now = 0.0
    watched = Watched(lambda: now, stale_seconds=30)
    path = tmp_path / "lock"
    for beat in range(5):
        path.write_text(f"holder {beat}", encoding="utf-8")
        assert not watched.dead(path)
        now += 25
    assert not watched.dead(path)
    now += 10
    assert watched.dead(path)
