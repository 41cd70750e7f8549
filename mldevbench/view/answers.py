"""What each address of the page's server gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from mldevbench.report.page import Inside, html_page
from mldevbench.report.reading import read_shown, trajectory_values
from mldevbench.view.artifacts import artifacts_of, content, find_artifact
from mldevbench.view.follow import Followed
from mldevbench.view.searching import search

RUN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
MOST_STEPS = 5_000


@dataclass(frozen=True)
class Answer:
    status: int
    kind: str = "application/json"
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Iterable[bytes] | None = None


def answer(followed: Followed, target: str, tag: str | None) -> Answer:
    """Return what an address gives; an unknown one is 404."""
    parts = urlsplit(target)
    words = [unquote(word, errors="replace") for word in parts.path.split("/")[1:]]
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    match words:
        case [""]:
            return Answer(200, "text/html; charset=utf-8", _page(followed))
        case ["data", "study"]:
            return _study(followed, tag)
        case ["data", "figures"]:
            return Answer(200, body=followed.figures())
        case ["data", "search"]:
            return _search(followed, query.get("q", ""))
        case ["data", "run", run_id] if RUN_ID.fullmatch(run_id):
            return _run(followed, run_id)
        case ["data", "steps", run_id, attempt] if RUN_ID.fullmatch(run_id) and attempt.isdecimal():
            return _steps(followed, run_id, int(attempt), query)
        case ["artifact", run_id, attempt, name] if RUN_ID.fullmatch(run_id) and attempt.isdecimal():
            return _artifact(followed, run_id, int(attempt), name)
    return problem(404, "there is nothing at this address")


def problem(status: int, text: str) -> Answer:
    return Answer(status, "text/plain; charset=utf-8", f"{text}\n".encode())


def _page(followed: Followed) -> bytes:
    title = f"mldevbench: {followed.shown}"
    return html_page(Inside(title, {"live": True, "title": title}), live=True).encode("utf-8", "replace")


def _study(followed: Followed, tag: str | None) -> Answer:
    now, body = followed.study()
    quoted = {"ETag": f'"{now}"'}
    return Answer(304, headers=quoted) if tag == f'"{now}"' else Answer(200, body=body, headers=quoted)


def _json(value: object) -> Answer:
    return Answer(200, body=json.dumps(value, ensure_ascii=True, allow_nan=False).encode())


def _run(followed: Followed, run_id: str) -> Answer:
    found = followed.run(run_id)
    if found is None:
        return problem(404, f"there is no run {run_id}")
    files = artifacts_of(followed.store.place, run_id)
    return _json({**found, "artifacts": [asdict(one) for one in files], "trajectory": None})


def _steps(followed: Followed, run_id: str, attempt: int, query: dict[str, str]) -> Answer:
    first, count = (int(query.get(name, "")) if query.get(name, "").isdecimal() else 0 for name in ("from", "count"))
    steps = read_shown(followed.store.place.child(f"artifacts/{run_id}/{attempt}"))
    shown = trajectory_values(attempt, steps, len(steps))
    chosen = shown["steps"]
    assert isinstance(chosen, list)
    return _json({**shown, "steps": chosen[first : first + min(count or MOST_STEPS, MOST_STEPS)]})


def _search(followed: Followed, words: str) -> Answer:
    if not words.strip():
        return problem(400, "search for at least one word")
    return _json(asdict(search(followed.store.place, followed.run_ids(), words[:200])))


def _artifact(followed: Followed, run_id: str, attempt: int, name: str) -> Answer:
    found = find_artifact(followed.store.place, run_id, attempt, name)
    if found is None:
        return problem(404, "there is no such file")
    plain = re.sub(r"[^0-9A-Za-z._-]", "_", name)[-100:]
    headers = {
        # Always saved, never shown: the content is the agent's.
        "Content-Disposition": f'attachment; filename="{run_id[:8]}-{attempt}-{plain}"',
        "Content-Length": str(found.bytes),
    }
    return Answer(200, "application/octet-stream", headers=headers, chunks=content(followed.store.place, run_id, found))
