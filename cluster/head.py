"""A look at the cluster's head now and then: Ray ends a driver that has lost it, and leaves no time for a last word."""

from __future__ import annotations

import sys
import threading

from cluster.look import answers

LOOK_SECONDS = 2.0
SILENT_LOOKS = 2  # one may be lost on the way


class HeadWatch:
    """Use as a context manager; says once that the head is silent, and again once it is back."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="head watch", daemon=True)

    def __enter__(self) -> HeadWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _watch(self) -> None:
        silent = 0
        while not self._over.wait(LOOK_SECONDS):
            before, silent = silent, 0 if answers(self.address) else silent + 1
            if silent == SILENT_LOOKS:
                _say(
                    f"the cluster's head at {self.address} doesn't answer; if it stays away Ray ends this driver: "
                    "what is finished stays, and the same command goes on once there is a cluster again"
                )
            elif before >= SILENT_LOOKS and not silent:
                _say(f"the cluster's head at {self.address} answers again")


def _say(text: str) -> None:
    sys.stderr.write(f"mldevbench: {text}\n")
    sys.stderr.flush()
