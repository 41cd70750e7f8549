"""A server on loopback that behaves as badly as it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Source:
    """Files by path; `trouble` may spoil the answer to a request, told its number and path."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.trouble: Callable[[int, str], str | None] = lambda number, path: None
        self.url = ""


@contextmanager
def source() -> Iterator[Source]:
    """Serve until the end of the block."""
    held = Source()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            held.requests.append((self.path, asked))
            trouble = held.trouble(len(held.requests), self.path)
            content = held.files.get(self.path)
            if content is None or (trouble or "").isdigit():
                self.send_error(int(trouble) if trouble else 404)
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and trouble != "no ranges" else 0
            body = b"x" * len(content) if trouble == "wrong" else content
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            self.wfile.write(body[start : start + (len(body) - start) // 2 if trouble == "cut" else len(body)])

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    held.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield held
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
