"""One at a time among processes and machines that share a folder, where file locks may not work."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

BEAT_SECONDS = 2.0
STALE_SECONDS = 30.0
LOOK_SECONDS = 0.1


@contextmanager
def turn(
    path: Path, stale_seconds: float = STALE_SECONDS, clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Hold a file that only one can create; a holder that no longer touches it has died."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = f"{os.uname().nodename} {os.getpid()} {secrets.token_hex(8)}"
    watched = Watched(clock, stale_seconds)
    while not _create(path, mine):
        if watched.dead(path):
            _clear(path, watched.content)
        time.sleep(LOOK_SECONDS)
    over = threading.Event()
    beat = threading.Thread(target=_beat, args=(path, over), name="turn", daemon=True)
    beat.start()
    try:
        yield
    finally:
        over.set()
        beat.join()
        with contextlib.suppress(OSError):
            if path.read_text(encoding="utf-8").startswith(mine):
                path.unlink()


class Watched:
    """Tells by our own clock how long a file has not changed; clocks of other machines don't matter."""

    def __init__(self, clock: Callable[[], float], stale_seconds: float) -> None:
        self._clock, self._stale = clock, stale_seconds
        self.content = ""
        self._since = clock()

    def dead(self, path: Path) -> bool:
        try:
            content = path.read_text(encoding="utf-8")
        except OSError:
            content = ""
        if content != self.content:
            self.content, self._since = content, self._clock()
        return bool(content) and self._clock() - self._since > self._stale


def _create(path: Path, content: str) -> bool:
    """Make the file with its content at once: a link either is made or is not, on network disks too."""
    aside = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    aside.write_text(content, encoding="utf-8")
    try:
        os.link(aside, path)
        return True
    except FileExistsError:
        return False
    finally:
        aside.unlink(missing_ok=True)


def _clear(path: Path, content: str) -> None:
    """Take away a dead holder's file; of two that try, only one can move it."""
    aside = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    with contextlib.suppress(OSError):
        path.rename(aside)
        if aside.read_text(encoding="utf-8") != content:  # it had just become somebody else's
            with contextlib.suppress(OSError):
                os.link(aside, path)
        aside.unlink()


def _beat(path: Path, over: threading.Event) -> None:
    number = 0
    content = path.read_text(encoding="utf-8")
    while not over.wait(BEAT_SECONDS):
        number += 1
        aside = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
        with contextlib.suppress(OSError):
            if not path.read_text(encoding="utf-8").startswith(content):
                return
            aside.write_text(f"{content} {number}", encoding="utf-8")
            aside.replace(path)
