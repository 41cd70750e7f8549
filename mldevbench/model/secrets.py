"""Known secret values: read from an env file, and kept out of everything that is written."""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Iterable
from pathlib import Path

from mldevbench.errors import UserError

MARK = "[secret]"
SHORTEST = 8  # anything shorter would blot out ordinary words


def read_env_file(path: Path) -> dict[str, str]:
    """Read lines of `NAME=value`, with `export`, quotes and comments as shells have them."""
    if not path.is_file():
        raise UserError(f"--env-file {path}: there is no such file")
    values: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.strip().removeprefix("export ").strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier():
            raise UserError(f"--env-file {path}, line {number}: write NAME=value")
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        values[name.strip()] = value
    return values


def forms(secret: str) -> set[str]:
    """Return the ways in which a value may turn up in a text."""
    data = secret.encode()
    shapes = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    shapes |= {urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret), data.hex()}
    whole = data[: len(data) // 3 * 3]  # the last letters depend on what follows
    shapes |= {base64.b64encode(whole).decode(), base64.urlsafe_b64encode(whole).decode()}
    return shapes


class Scrubber:
    """Blots out known values, the longest form first."""

    def __init__(self, secrets: Iterable[str | None]) -> None:
        long_enough = [secret for secret in secrets if secret and len(secret) >= SHORTEST]
        shapes = {form for secret in long_enough for form in forms(secret)}
        self._forms = sorted(shapes, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, MARK)
        return text
