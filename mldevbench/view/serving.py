"""The page's server: loopback only, known host names only, nothing that a foreign page could use."""

from __future__ import annotations

import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mldevbench.errors import Fault, UserError
from mldevbench.report.page import policy
from mldevbench.store.study_store import StudyStore
from mldevbench.view.answers import Answer, answer, problem
from mldevbench.view.follow import Followed

# Any port: a tunnel (ssh -L, kubectl port-forward) changes it.
HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    """Serves one study on 127.0.0.1."""

    daemon_threads = True

    def __init__(self, followed: Followed, port: int = 0) -> None:
        self.followed = followed
        super().__init__(("127.0.0.1", port), Request)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "mldevbench", ""
    timeout = 60

    def do_GET(self) -> None:
        self._send(self._answer())

    def _answer(self) -> Answer:
        refused = self._refused()
        if refused:
            return problem(403, refused)
        try:
            assert isinstance(self.server, Server)
            return answer(self.server.followed, self.path, self.headers.get("If-None-Match"))
        except (Fault, UserError, OSError) as error:
            return problem(503, f"the storage can't be read at the moment: {error}")

    def _refused(self) -> str | None:
        """Say why a request isn't from our own page: another host name, another site, no header of ours."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not HOST.fullmatch(hosts[0].strip()):
            return "only localhost and 127.0.0.1 are served"
        if not self.path.startswith("/"):
            return "only addresses on this server"
        if self.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            return "not for other sites"
        if self.path.startswith("/data/") and not self.headers.get("X-Mldevbench"):
            return "only for the page itself"
        return None

    def _send(self, found: Answer) -> None:
        self.send_response(found.status)
        for name, value in (HEADERS | {"Content-Security-Policy": self._policy(found)} | found.headers).items():
            self.send_header(name, value)
        if found.status != 304:
            self.send_header("Content-Type", found.kind)
            if "Content-Length" not in found.headers:
                self.send_header("Content-Length", str(len(found.body)))
        self.end_headers()
        for chunk in found.chunks or [found.body] if found.status != 304 else []:
            self.wfile.write(chunk)

    def _policy(self, found: Answer) -> str:
        page = found.kind.startswith("text/html")
        return f"{policy(live=True)}; frame-ancestors 'none'" if page else "default-src 'none'; sandbox"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the person who started it."""


def serve(store: StudyStore, shown: str, port: int) -> Server:
    """Return the server, listening already."""
    try:
        return Server(Followed(store, shown), port)
    except OSError as error:
        raise UserError(f"port {port} can't be used ({error.strerror}); choose another with --port") from None
