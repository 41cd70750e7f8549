"""The egress proxy: lets a sandbox reach named public hosts, and nothing on this machine, its network or the cluster.

It looks at names and addresses only. What a host that is allowed passes on for others it can't see.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from mldevbench.mirror.log import RequestLog
from mldevbench.mirror.network import allows

MOST_CONNECTIONS = 64
LONGEST_HEAD = 1 << 16
HEAD_SECONDS = 30.0
CONNECT_SECONDS = 30.0
CHUNK = 1 << 16
PORTS = (80, 443)


class Refused(Exception):
    """A request that is not let out."""


async def resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def public(address: str) -> bool:
    """Say whether an address is out in the world: not here, not near, not the cloud's own."""
    with contextlib.suppress(ValueError):
        parsed = ipaddress.ip_address(address)
        inner = getattr(parsed, "ipv4_mapped", None) or parsed
        return inner.is_global and not inner.is_multicast and address not in own_addresses()
    return False


def own_addresses() -> set[str]:
    """Return this machine's addresses by its own name: a node may have a public one."""
    with contextlib.suppress(OSError):
        return {str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None)}
    return set()


@dataclass(frozen=True)
class Rules:
    """Who may be reached, and how names become addresses."""

    hosts: tuple[str, ...]
    forbidden: frozenset[str] = frozenset()  # addresses of the cluster's nodes
    ports: tuple[int, ...] = PORTS
    resolve: Callable[[str, int], Awaitable[list[str]]] = resolve
    public: Callable[[str], bool] = public

    async def address(self, host: str, port: int) -> str:
        """Return the address to connect to: resolved here, once, so that a name can't change its meaning later."""
        if not allows(self.hosts, host):
            raise Refused(f"{host} is not allowed")
        if port not in self.ports:
            raise Refused(f"port {port} is not allowed")
        try:
            found = await self.resolve(host, port)
        except OSError:
            raise Refused(f"{host} is not known") from None
        for address in found:
            if self.public(address) and address not in self.forbidden:
                return address
        raise Refused(f"{host} is no public address")


class Proxy:
    """Serves one run on the listener that it is given."""

    def __init__(self, rules: Rules, log: RequestLog) -> None:
        self._rules, self._log = rules, log
        self._server: asyncio.Server | None = None
        self._open = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        self._server = await asyncio.start_server(self._admit, sock=listener, limit=LONGEST_HEAD)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._open += 1
        try:
            if self._open <= MOST_CONNECTIONS:
                await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # whoever hung up knows it
        finally:
            self._open -= 1
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
        first = head.split(b"\r\n", 1)[0].decode("latin-1")
        try:
            wanted = read_head(head)
            address = await self._rules.address(wanted.host, wanted.port)
            far = await asyncio.wait_for(asyncio.open_connection(address, wanted.port), CONNECT_SECONDS)
        except Refused as error:
            self._log.note("refused", first, 403, 0, str(error))
            writer.write(_answer(403, "Forbidden", f"{error}\n"))
            await writer.drain()
            return
        except (OSError, TimeoutError) as error:
            self._log.note("failed", first, 502, 0, str(error))
            writer.write(_answer(502, "Bad Gateway", "the host doesn't answer\n"))
            await writer.drain()
            return
        if wanted.onward is None:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            far[1].write(wanted.onward)
        _, came = await _both_ways((reader, writer), far)
        self._log.note("passed", first, 200, came, address)


@dataclass(frozen=True)
class Wanted:
    """Where a client wants to go, and what is to be said there first; None: a tunnel."""

    host: str
    port: int
    onward: bytes | None


def read_head(head: bytes) -> Wanted:
    """Read a proxy request; a plain one goes on to the host that it names and to no other."""
    lines = head.decode("latin-1").split("\r\n")
    method, _, rest = lines[0].partition(" ")
    target = rest.rpartition(" ")[0]
    try:
        if method == "CONNECT":
            place = urlsplit(f"//{target}")
            return Wanted(place.hostname or "", place.port or 443, None)
        place = urlsplit(target)
        if place.scheme != "http" or not place.hostname:
            raise Refused("only http:// addresses and tunnels are passed on")
        path = (place.path or "/") + (f"?{place.query}" if place.query else "")
        dropped = ("host:", "proxy-", "connection:", "keep-alive:")
        kept = [line for line in lines[1:] if line and not line.lower().startswith(dropped)]
        host = place.netloc.rpartition("@")[2]
        onward = "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *kept, "Connection: close", "", ""])
        return Wanted(place.hostname, place.port or 80, onward.encode("latin-1"))
    except ValueError:
        raise Refused("the address can't be read") from None


def _answer(status: int, word: str, text: str) -> bytes:
    body = text.encode()
    return f"HTTP/1.1 {status} {word}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _both_ways(near: Ends, far: Ends) -> tuple[int, int]:
    """Carry bytes until the far side has said all."""
    out = asyncio.create_task(_carry(near[0], far[1]))
    try:
        back = await _carry(far[0], near[1])
    finally:
        out.cancel()
        await asyncio.gather(out, return_exceptions=True)
        far[1].close()
    return 0, back


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> int:
    total = 0
    with contextlib.suppress(OSError):
        while data := await source.read(CHUNK):
            target.write(data)
            await target.drain()
            total += len(data)
        if target.can_write_eof():
            target.write_eof()
    return total
