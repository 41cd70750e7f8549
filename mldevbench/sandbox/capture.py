"""Keeps the head and the tail of what a command prints, and counts all of it."""

from __future__ import annotations


class Capture:
    """Holds at most `keep` bytes of an output of any length."""

    def __init__(self, keep: int) -> None:
        self.total = 0
        self._head_room = max(keep // 2, 1)
        self._tail_room = max(keep - self._head_room, 1)
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        missing = self._head_room - len(self._head)
        if missing > 0:
            self._head += data[:missing]
            data = data[missing:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_room:
            del self._tail[: -self._tail_room]

    def result(self) -> bytes:
        """Return head and tail, with a line between that says how much is missing."""
        tail = bytes(self._tail[-self._tail_room :])
        missing = self.total - len(self._head) - len(tail)
        between = f"\n[... {missing} bytes left out ...]\n".encode() if missing else b""
        return bytes(self._head) + between + tail
