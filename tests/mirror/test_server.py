"""A mirror as any client sees it: whole files, ranges, faults, and nothing that wasn't declared."""

from __future__ import annotations

import http.client
import socket
from urllib.parse import urlsplit

import pytest
from mirror.opened import Open, Opened

from mldevbench.mirror import cut, fails
from mldevbench.mirror.server import MOST_CONNECTIONS

NUMBERS = bytes(range(256)) * 400


def ask(opened: Opened, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    place = urlsplit(opened.mirror.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    try:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_a_whole_file_its_head_and_its_parts(open_mirror: Open) -> None:
    opened = open_mirror()
    response, body = ask(opened, "/data/numbers.bin")
    assert response.status == 200 and body == NUMBERS and response.headers["Server"] == "mirror"
    head, nothing = ask(opened, "/data/numbers.bin", "HEAD")
    assert head.headers["Content-Length"] == str(len(NUMBERS)) and nothing == b""
    for asked, right in (("bytes=5-9", NUMBERS[5:10]), ("bytes=102390-", NUMBERS[102390:]), ("bytes=-7", NUMBERS[-7:])):
        part, body = ask(opened, "/data/numbers.bin", Range=asked)
        assert part.status == 206 and body == right and part.headers["Content-Range"].endswith(f"/{len(NUMBERS)}")
    assert ask(opened, "/data/numbers.bin", Range="bytes=200000-")[0].status == 416
    assert [line["bytes"] for line in opened.log(6)][:2] == [len(NUMBERS), 0]


def test_faults_are_answered_and_logged(open_mirror: Open) -> None:
    wanted = [fails("gone", 410, "token 17"), fails("data/numbers.bin", 500, "later", times=1)]
    opened = open_mirror(wanted)
    response, body = ask(opened, "/gone")
    assert (response.status, body) == (410, b"token 17")
    assert [ask(opened, "/data/numbers.bin")[0].status for _ in range(3)] == [500, 200, 200]
    assert [line["status"] for line in opened.log(4)] == [410, 500, 200, 200]


def test_a_connection_is_cut_at_the_same_byte_whatever_range_is_asked_for(open_mirror: Open) -> None:
    opened = open_mirror([cut("data/numbers.bin", after=1000)])
    with pytest.raises(http.client.IncompleteRead) as broken:
        ask(opened, "/data/numbers.bin")
    assert broken.value.partial == NUMBERS[:1000]
    with pytest.raises(http.client.IncompleteRead) as broken:
        ask(opened, "/data/numbers.bin", Range="bytes=600-")
    assert broken.value.partial == NUMBERS[600:1000]
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        ask(opened, "/data/numbers.bin", Range="bytes=1000-")
    assert len(opened.log(3)) == 3


def test_cut_before_any_answer(open_mirror: Open) -> None:
    opened = open_mirror([cut("data/numbers.bin")])
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        ask(opened, "/data/numbers.bin")


@pytest.mark.parametrize(
    "path",
    ["/", "/data", "/data/", "/../log-0.jsonl", "/data/../../log-0.jsonl", "/%2e%2e/log-0.jsonl", "//etc/passwd",
     "/hub/models/quiet/tiny/config.json", "/data/numbers.bin%00"],
)  # fmt: skip
def test_nothing_else_is_there(open_mirror: Open, path: str) -> None:
    opened = open_mirror()
    assert ask(opened, path)[0].status == 404
    assert opened.log()[-1]["status"] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_it_is_read_only(open_mirror: Open, method: str) -> None:
    assert ask(open_mirror(), "/data/numbers.bin", method)[0].status == 405


def test_callers_can_not_use_up_our_descriptors(open_mirror: Open) -> None:
    opened = open_mirror()
    place = urlsplit(opened.mirror.url)
    held = [socket.create_connection((place.hostname or "", place.port or 0), 30) for _ in range(MOST_CONNECTIONS + 20)]
    try:
        held[-1].settimeout(30)
        assert held[-1].recv(1) == b"", "one too many is sent away at once"
        held[0].sendall(b"GET /data/numbers.bin HTTP/1.1\r\nHost: x\r\n\r\n")
        assert held[0].recv(15) == b"HTTP/1.1 200 OK"
    finally:
        for one in held:
            one.close()
