"""Reading the YAML files that people write: errors name the file, the line and the key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import pydantic
import yaml

from mldevbench.errors import UserError, unknown

Shape = TypeVar("Shape", bound=pydantic.BaseModel)


class Strict(pydantic.BaseModel):
    """A hand-written record: unknown keys and wrong types are refused."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)


def load(path: Path, shape: type[Shape]) -> Shape:
    """Read one YAML file into its shape."""
    return parse(path.read_text(encoding="utf-8"), shape, str(path))


def parse(text: str, shape: type[Shape], where: str) -> Shape:
    try:
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise UserError(f"{where}{line}: not valid YAML: {getattr(error, 'problem', None) or error}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{where}: must be a mapping of keys to values")
    return build(raw, shape, where, text)


def build(raw: dict[str, Any], shape: type[Shape], where: str, text: str = "") -> Shape:
    """Check a mapping against its shape; the first fault becomes one line."""
    try:
        return shape.model_validate(raw)
    except pydantic.ValidationError as error:
        # A misspelt key is also a missing one; the spelling is the news.
        fault = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
        keys = [str(part) for part in fault["loc"] if not str(part).startswith(("function-", "list[", "union"))]
        spot = where + _line(text, keys)
        if fault["type"] == "extra_forbidden":
            nearby = _known(shape, fault["loc"][:-1])
            raise UserError(f"{spot}: {unknown('key', keys[-1], nearby)}") from None
        raise UserError(f"{spot}: {'.'.join(keys) or 'file'}: {_words(fault)}") from None


def _words(fault: Any) -> str:
    if fault["type"] == "missing":
        return "is missing; add it"
    return f"{fault['msg'][0].lower()}{fault['msg'][1:]}, not {fault.get('input')!r}"


def _known(shape: type[pydantic.BaseModel], location: tuple[Any, ...]) -> list[str]:
    """Return the keys allowed at a place in the file."""
    for part in location:
        field = shape.model_fields.get(str(part))
        if field is None:
            continue
        inner = [
            kind
            for kind in (field.annotation, *getattr(field.annotation, "__args__", ()))
            if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)
        ]
        if inner:
            shape = inner[0]
    return list(shape.model_fields)


def _line(text: str, keys: list[str]) -> str:
    """Return the line of the innermost key that the text shows."""
    wanted = [key for key in keys if not key.isdigit()]
    for number, line in enumerate(text.splitlines(), 1):
        if wanted and re.search(rf"(?<!\w){re.escape(wanted[-1])}\s*:", line.split("#")[0]):
            return f":{number}"
    return ""
