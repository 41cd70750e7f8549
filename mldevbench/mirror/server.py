"""Answers requests from a shelf: ranges, the hub's paths, and the faults that a task wants."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from aiohttp import web

from mldevbench.mirror import hub
from mldevbench.mirror.log import RequestLog
from mldevbench.mirror.route import Fault
from mldevbench.mirror.shelf import Item, Shelf

MOST_CONNECTIONS = 64  # each costs a descriptor of the process that serves
LARGEST_FORM = 1 << 20
CHUNK = 1 << 18
IDLE_SECONDS = 30.0


class Cut(web.Response):
    """Stands for an answer that nobody can receive any more."""


class Server:
    """One run's mirror on listeners that it is given; it reads only, and only from its shelf."""

    def __init__(self, shelf: Shelf, log: RequestLog) -> None:
        self._shelf, self._log = shelf, log
        self._runner: web.ServerRunner | None = None
        self._accepting: list[asyncio.Task[None]] = []

    async def start(self, listener: socket.socket) -> None:
        server = web.Server(self._serve, access_log=None, keepalive_timeout=IDLE_SECONDS)
        self._runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        listener.setblocking(False)
        self._accepting.append(asyncio.create_task(_accept(listener, server)))

    async def close(self) -> None:
        for task in self._accepting:
            task.cancel()
        await asyncio.gather(*self._accepting, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        path = unquote(request.rel_url.raw_path).lstrip("/")
        response = await self._answer(request, path)
        response.headers["Server"] = "mirror"
        if not response.prepared and not isinstance(response, Cut):
            size = len(response.body) if isinstance(response, web.Response) and response.body else 0  # pyright: ignore
            self._log.note(request.method, request.path_qs, response.status, size)
        return response

    async def _answer(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        form = await _form(request)
        if form is None:
            return web.Response(status=405, text="this mirror is read-only\n")
        fault = self._shelf.fault(path)
        if fault is not None and fault.cut_after is None:
            return web.Response(status=fault.status, body=fault.body)
        try:
            found = hub.find_file(self._shelf, path)
            said = None if found else await asyncio.to_thread(hub.answer_api, self._shelf, path, form)
        except hub.Missing as missing:
            return hub.refusal(missing)
        if said is not None:
            return web.json_response(said)
        item = found[1] if found else self._shelf.files.get(path)
        if item is None:
            return web.Response(status=404, text="not on this mirror\n")
        tag = {"ETag": f'"{await asyncio.to_thread(lambda: item.sha256)}"'}
        return await self._send(request, item, await asyncio.to_thread(hub.headers_of, *found) if found else tag, fault)

    async def _send(
        self, request: web.BaseRequest, item: Item, more: Mapping[str, str], fault: Fault | None
    ) -> web.StreamResponse:
        """Send a file, or a range of it, or as much as a fault lets through."""
        start, stop, status = _span(request, item.size)
        headers = {"Accept-Ranges": "bytes", "Content-Type": "application/octet-stream", **more, "Server": "mirror"}
        if status == 416:
            return web.Response(status=416, headers={"Content-Range": f"bytes */{item.size}"})
        if status == 206:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{item.size}"
        if fault is not None and fault.cut_after == 0:
            self._log.note(request.method, request.path_qs, 0, 0, "cut")
            return _cut(request)
        response = web.StreamResponse(status=status, headers=headers)
        response.content_length = stop - start
        await response.prepare(request)
        limit = stop if fault is None or fault.cut_after is None else min(stop, max(start, fault.cut_after))
        sent = 0
        try:
            if request.method != "HEAD":
                sent = await _copy(item, start, limit, response)
        finally:
            about = request.headers.get("Range", "") + (" cut" if limit < stop else "")
            self._log.note(request.method, request.path_qs, status, sent, about.strip())
        if limit < stop and request.method != "HEAD":
            await response.write(b"")
            return _cut(request)
        return response


async def _accept(listener: socket.socket, server: web.Server) -> None:
    """Let callers in, but never so many that they use up our descriptors."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            connection, _ = await loop.sock_accept(listener)
        except OSError:
            if listener.fileno() < 0:
                return
            await asyncio.sleep(0.1)
            continue
        if len(server.connections) >= MOST_CONNECTIONS:
            connection.close()
            continue
        with contextlib.suppress(OSError):
            await loop.connect_accepted_socket(server, connection)


async def _form(request: web.BaseRequest) -> dict[str, Any] | None:
    """Return what the hub's clients send along; None if the method could change anything."""
    if request.method in ("GET", "HEAD"):
        return dict(request.query)
    if request.method != "POST" or "/paths-info/" not in request.path:
        return None
    if (request.content_length or 0) > LARGEST_FORM:
        return None
    if "json" in request.content_type:
        try:
            given = await request.json()
        except ValueError:
            return None
        return given if isinstance(given, dict) else None
    posted = await request.post()
    return {name: posted.getall(name) if name == "paths" else posted[name] for name in posted}


def _span(request: web.BaseRequest, size: int) -> tuple[int, int, int]:
    """Return where to start and stop, and the status that says so."""
    if "Range" not in request.headers:
        return 0, size, 200
    try:
        asked = request.http_range
        start, stop, _ = asked.indices(size)
    except ValueError:
        return 0, 0, 416
    return (start, stop, 206) if start < stop else (0, 0, 416)


async def _copy(item: Item, start: int, stop: int, response: web.StreamResponse) -> int:
    sent = 0
    with item.path.open("rb") as file:
        file.seek(start)
        while sent < stop - start:
            chunk = await asyncio.to_thread(file.read, min(CHUNK, stop - start - sent))
            if not chunk:
                break
            await response.write(chunk)
            sent += len(chunk)
    return sent


def _cut(request: web.BaseRequest) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.close()  # what was written still goes out, then the line is dead
    return Cut()
