"""Puts the page together: one file with its style, its script and its data, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PARTS = Path(__file__).with_name("parts")


@dataclass(frozen=True)
class Inside:
    """What a page carries: the study at a glance, and the runs' details, which are parsed when first asked for."""

    title: str
    data: dict[str, object]
    details: dict[str, object] = field(default_factory=dict)


@cache
def script() -> str:
    parts = sorted(PARTS.glob("*.js"))
    return '"use strict";\n' + "\n".join(part.read_text(encoding="utf-8") for part in parts)


@cache
def style() -> str:
    return (PARTS / "page.css").read_text(encoding="utf-8")


def policy(live: bool) -> str:
    """Return the content security policy: our script and style by their digests, images from the page itself."""
    rules = [
        "default-src 'none'",
        f"script-src '{_digest(script())}'",
        f"style-src '{_digest(style())}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*rules, "connect-src 'self'"] if live else rules)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def html_page(inside: Inside, live: bool) -> str:
    """Return the whole page as text."""
    values = {
        "policy": html.escape(policy(live)),
        "title": html.escape(inside.title),
        "style": style(),
        "data": as_script_data(inside.data),
        "details": as_script_data(inside.details),
        "script": script(),
    }
    pieces = (PARTS / "page.html").read_text(encoding="utf-8").split("@")
    # Names stand between the signs; values are never looked at again, so that one can't name another.
    return "".join(values[piece] if place % 2 else piece for place, piece in enumerate(pieces))


def as_script_data(value: object) -> str:
    """Return JSON that no parser of markup can take for the end of its element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
