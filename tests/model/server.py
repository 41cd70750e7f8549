"""An OpenAI-compatible server on loopback whose answers, faults and limits a test decides."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    text: str = "done"
    calls: tuple[tuple[str, str], ...] = ()
    prompt: int = 11
    completion: int = 5
    cached: int = 0
    reasoning: int = 0
    thought: str | None = None
    delay: float = 0.0


@dataclass(frozen=True)
class Refusal:
    status: int
    message: str = "refused by the test"
    code: str | None = None
    retry_after: str | None = None


@dataclass(frozen=True)
class Hang:
    """Says nothing until the server is closed."""


@dataclass(frozen=True)
class Cut:
    """Begins an answer and drops the connection."""

    politely: bool = False  # ends the stream as if it were whole, without usage and [DONE]


@dataclass(frozen=True)
class Garbage:
    body: str = '{"choices": [{"message": '


Behaviour = Answer | Refusal | Hang | Cut | Garbage


@dataclass
class Tally:
    """What the server says it did."""

    requests: int = 0
    served: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    refused: int = 0
    at_once: int = 0
    most_at_once: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    callers: set[int] = field(default_factory=set)  # the ports that calls came from: one for each connection


class ModelServer:
    """Use as a context manager; `base` is the address for `api_base`."""

    def __init__(
        self,
        behave: Sequence[Behaviour] | Callable[[int, Mapping[str, Any]], Behaviour] = (),
        *,
        at_most: int | None = None,
        retry_after: str = "1",
    ) -> None:
        self.tally = Tally()
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.at_most = at_most
        self.retry_after = retry_after
        self._behave = behave
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def behaviour(self, number: int, body: Mapping[str, Any]) -> Behaviour:
        if callable(self._behave):
            return self._behave(number, body)
        return self._behave[number] if number < len(self._behave) else Answer()

    def count(self, answer: Answer) -> None:
        with self.lock:
            self.tally.served += 1
            self.tally.prompt += answer.prompt
            self.tally.completion += answer.completion
            self.tally.cached += answer.cached
            self.tally.reasoning += answer.reasoning


def _handler_for(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else the body waits 40 ms for word that the headers have arrived

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                tally = server.tally
                number = tally.requests
                tally.requests += 1
                tally.bodies.append(body)
                tally.keys.add(self.headers.get("Authorization", "").removeprefix("Bearer "))
                tally.callers.add(self.client_address[1])
                tally.at_once += 1
                tally.most_at_once = max(tally.most_at_once, tally.at_once)
                over = server.at_most is not None and tally.at_once > server.at_most
            left = threading.Event()
            try:
                self._act(
                    Refusal(429, retry_after=server.retry_after) if over else server.behaviour(number, body), body, left
                )
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                self._leave(left)

        def _leave(self, left: threading.Event) -> None:
            """Count the caller out, before the answer's last byte: it may come again at once."""
            with server.lock:
                if not left.is_set():
                    left.set()
                    server.tally.at_once -= 1

        def _act(self, behaviour: Behaviour, body: Mapping[str, Any], left: threading.Event) -> None:
            if isinstance(behaviour, Hang):
                server.closing.wait()
                self.close_connection = True
            elif isinstance(behaviour, Refusal):
                with server.lock:
                    server.tally.refused += 1
                error = {"message": behaviour.message, "type": "error", "code": behaviour.code}
                extra = {} if behaviour.retry_after is None else {"Retry-After": behaviour.retry_after}
                self._leave(left)
                self._whole(behaviour.status, json.dumps({"error": error}), extra)
            elif isinstance(behaviour, Garbage):
                self._leave(left)
                self._whole(200, behaviour.body, {})
            elif isinstance(behaviour, Cut):
                self._cut(behaviour, bool(body.get("stream")))
            else:
                server.closing.wait(behaviour.delay)
                server.count(behaviour)
                self._leave(left)
                self._stream(behaviour) if body.get("stream") else self._whole(200, json.dumps(_whole(behaviour)), {})

        def _whole(self, status: int, text: str, headers: Mapping[str, str]) -> None:
            data = text.encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _begin_stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True

        def _stream(self, answer: Answer) -> None:
            self._begin_stream()
            for chunk in _chunks(answer):
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\n\n")

        def _cut(self, cut: Cut, streaming: bool) -> None:
            self.close_connection = True
            if not streaming:
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"choices": [')
            elif cut.politely:
                self._begin_stream()
                self.wfile.write(f"data: {json.dumps(_chunks(Answer('half an ans'))[0])}\n\n".encode())
            else:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                piece = f"data: {json.dumps(_chunks(Answer('half an ans'))[0])}\n\n".encode()
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    return Handler


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.prompt,
        "completion_tokens": answer.completion,
        "total_tokens": answer.prompt + answer.completion,
        "prompt_tokens_details": {"cached_tokens": answer.cached},
        "completion_tokens_details": {"reasoning_tokens": answer.reasoning},
    }


def _message(answer: Answer) -> dict[str, Any]:
    calls = [
        {"index": index, "id": f"c{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for index, (name, arguments) in enumerate(answer.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    message |= {"tool_calls": calls} if calls else {}
    return message | ({"reasoning_content": answer.thought} if answer.thought else {})


def _whole(answer: Answer) -> dict[str, Any]:
    choice = {"index": 0, "message": _message(answer), "finish_reason": "tool_calls" if answer.calls else "stop"}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tested-2026",
        "system_fingerprint": "fp_test",
        "choices": [choice],
        "usage": _usage(answer),
    }


def _chunks(answer: Answer) -> list[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": "chat-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "tested-2026",
            "system_fingerprint": "fp_test",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    half = len(answer.text) // 2
    message = _message(answer)
    first = {**message, "content": answer.text[:half]}
    closing = {**chunk({}), "choices": [], "usage": _usage(answer)}
    finish = "tool_calls" if answer.calls else "stop"
    return [chunk(first), chunk({"content": answer.text[half:]}), chunk({}, finish), closing]
