"""The process that speaks to W&B: reads messages, and says in single lines what a person should know."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterator

from mldevbench.tracking.board import Board
from mldevbench.tracking.message import Closing, Opening, Point

END_SECONDS = 200  # nobody waits longer, and no process is left behind


def messages() -> Iterator[object]:
    try:
        while True:
            yield pickle.load(sys.stdin.buffer)
    except (EOFError, pickle.UnpicklingError):
        return


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # W&B prints there whatever it is told

        def say(text: str) -> None:
            out.write(" ".join(text.split()) + "\n")
            out.flush()

        board, whole = Board(say), False
        for message in messages():
            if isinstance(message, Opening):
                board.open(message)
            elif isinstance(message, Point):
                board.point(message)
            elif isinstance(message, Closing):
                whole = True
                break
        signal.alarm(END_SECONDS)
        board.close(whole)


main()
