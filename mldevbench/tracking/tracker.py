"""The driver's end of W&B: messages to a process of its own, which may fail, hang or die without anyone noticing."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import IO

from mldevbench.cache import cache_folder
from mldevbench.catalog import home
from mldevbench.records import RunRow
from mldevbench.store.place import Place
from mldevbench.store.study_store import StudyStore
from mldevbench.tracking.choice import Choice
from mldevbench.tracking.counting import Counting
from mldevbench.tracking.message import Closing, Opening, Point, Subject

WAITING_MESSAGES = 1000
STANDING_SECONDS = 30.0
CLOSE_SECONDS = 180.0  # tables and files may have a slow way to go
HURRY_SECONDS = 1.0  # an interrupted driver has little time, and its study is what matters


class Tracker:
    """Tells W&B about a study; every method returns at once, but for `close`, which has a limit."""

    def __init__(
        self,
        choice: Choice,
        place: Place,
        study: str,
        subjects: tuple[Subject, ...],
        say: Callable[[str], None],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.say = say
        self.counting = Counting(subjects, StudyStore(place).runs.all())
        self._told = time.monotonic()
        self._messages: queue.Queue[object] = queue.Queue(WAITING_MESSAGES)
        folder = folder_for(place, environment or {})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mldevbench.tracking"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(environment or {}),
            start_new_session=True,  # Ctrl-C is for the driver
        )
        self._threads = [
            threading.Thread(target=act, name="wandb", daemon=True, args=(stream,))
            for act, stream in ((self._send, self._process.stdin), (self._hear, self._process.stdout))
        ]
        for thread in self._threads:
            thread.start()
        mode = "online" if choice.mode == "online" else "offline"
        self._put(Opening(study, place, choice.project, mode, folder, subjects))

    def update(self, running: int, finished: RunRow | None) -> None:
        """Tell of a run that ended, and now and then how many are at work."""
        now = time.monotonic()
        if finished:
            count = self.counting.add(finished)
            if count:
                self._put(Point(finished.label, count, running, finished))
        elif now - self._told >= STANDING_SECONDS:
            for label, count in self.counting.by_label.items():
                self._put(Point(label, count, running))
        else:
            return
        self._told = now

    def close(self, hurry: bool = False) -> None:
        """Let the tables be sent, for a while; then W&B has had its time."""
        limit = HURRY_SECONDS if hurry else CLOSE_SECONDS
        with contextlib.suppress(queue.Full):
            self._messages.put(Closing(), timeout=limit)
        try:
            self._process.wait(limit)
        except subprocess.TimeoutExpired:
            self.say("W&B: took too long to end and was left; the study is whole")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # its own service too
        self._process.wait()
        for thread in self._threads:
            thread.join(HURRY_SECONDS)

    def _put(self, message: object) -> None:
        with contextlib.suppress(queue.Full):
            self._messages.put_nowait(message)

    def _send(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            while True:
                message = self._messages.get()
                pickle.dump(message, pipe)
                pipe.flush()
                if isinstance(message, Closing):
                    return

    def _hear(self, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                self.say(f"W&B: {line.decode(errors='replace').strip()}")


def folder_for(place: Place, environment: Mapping[str, str]) -> str:
    """Return where W&B keeps its files: not in the current folder, which in a job is soon gone."""
    chosen = environment.get("WANDB_DIR") or os.environ.get("WANDB_DIR")
    return chosen or str(place.local or cache_folder() / "wandb" / place.path.rsplit("/", 1)[-1])


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    paths = [str(home()), *filter(None, [os.environ.get("PYTHONPATH")])]
    ours = {name: value for name, value in more.items() if name.startswith("WANDB_")}
    return {**os.environ, **ours, "PYTHONPATH": os.pathsep.join(paths)}
