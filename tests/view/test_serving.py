"""The page's server: who may ask, and for what."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest
from report.studies import Made
from view.conftest import served

from mldevbench.errors import UserError
from mldevbench.store.study_store import find_study
from mldevbench.view import Server, serve

OURS = {"X-Mldevbench": "1"}


def get(
    server: Server, path: str, headers: dict[str, str] | None = None, method: str = "GET"
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    try:
        connection.request(method, path, headers=headers or {})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def server(storage: Path):
    with served(find_study("made", str(storage))) as one:
        yield one


def test_it_listens_on_loopback_only(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    ports = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()
    mine = [line.split()[1] for line in ports if f":{server.server_port:04X}" in line.split()[1]]
    assert {address.split(":")[0] for address in mine} == {"0100007F"}


@pytest.mark.parametrize("host", ["localhost", "localhost:9999", "127.0.0.1:1", "[::1]:8080", "LOCALHOST:80"])
def test_any_port_of_this_machine_is_served(server: Server, host: str) -> None:
    assert get(server, "/", {"Host": host})[0].status == 200


@pytest.mark.parametrize(
    "host",
    ["example.org", "localhost.example.org", "127.0.0.1.nip.io", "10.0.0.1", "", "127.0.0.1:80@evil", "0.0.0.0:80"],
)
def test_other_names_are_refused(server: Server, host: str) -> None:
    assert get(server, "/", {"Host": host})[0].status == 403


def test_other_sites_and_bare_requests_for_data_are_refused(server: Server) -> None:
    assert get(server, "/data/study")[0].status == 403
    assert get(server, "/data/study", OURS | {"Sec-Fetch-Site": "cross-site"})[0].status == 403
    assert get(server, "/", {"Sec-Fetch-Site": "same-site"})[0].status == 403
    assert get(server, "/data/study", OURS)[0].status == 200
    assert get(server, "http://example.org/", {"Host": "localhost"})[0].status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(server: Server, method: str) -> None:
    assert get(server, "/", OURS, method)[0].status == 501


def test_every_answer_is_guarded(server: Server, study: Made) -> None:
    for path in ("/", "/data/study", "/nothing", f"/data/run/{study.rows[0].run_id}"):
        response, _ = get(server, path, OURS)
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert response.headers["Access-Control-Allow-Origin"] is None
        assert response.headers["X-Frame-Options"] == "DENY"


def test_an_unchanged_study_is_not_sent_twice(server: Server) -> None:
    first, body = get(server, "/data/study", OURS)
    again, nothing = get(server, "/data/study", OURS | {"If-None-Match": first.headers["ETag"]})
    assert (again.status, nothing) == (304, b"")
    assert len(json.loads(body)["runs"]["rows"]) == 48


def test_files_are_saved_never_shown_and_none_is_reached_from_outside(server: Server, study: Made) -> None:
    run_id = study.rows[0].run_id
    response, body = get(server, f"/artifact/{run_id}/1/trajectory-00000.jsonl")
    assert response.status == 200 and body.startswith(b"{")
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["Content-Disposition"].startswith("attachment")
    for path in (
        f"/artifact/{run_id}/1/..%2F..%2F..%2Fstudy.yaml", f"/artifact/{run_id}/1/%2Fetc%2Fpasswd",
        "/artifact/..%2F..%2Fx/1/study.yaml", f"/artifact/{run_id}/../1/x", f"/artifact/{run_id}/1/",
        "/data/run/..%2F..", "/data/steps/..%2Fx/1", f"/data/run/{'x' * 100}", "/data/run/unknown", "//etc/passwd",
    ):  # fmt: skip
        assert get(server, path, OURS)[0].status == 404, path


def test_a_taken_port_is_told(storage: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UserError, match="choose another with --port"):
            serve(find_study("made", str(storage)), "made", taken.getsockname()[1])


@pytest.mark.slow
def test_the_command_says_where_the_page_is_and_ends_on_interrupt(storage: Path) -> None:
    import signal

    command = [sys.executable, "-m", "mldevbench", "view", "made", "--storage", str(storage), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        line = process.stderr.readline()
        assert line.startswith("study made: http://127.0.0.1:"), line
        connection = HTTPConnection(line.split("//")[1].split("/")[0], timeout=60)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()
