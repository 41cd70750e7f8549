"""What `agent.yaml` may say of an agent's own venv."""

from __future__ import annotations

import re

import pydantic

from mldevbench.yamlfile import Strict


class VenvFile(Strict):
    """Which Pythons will do, the best first, and the file of pinned packages."""

    python: list[str]
    requirements: str = "requirements.txt"
    no_deps: bool = True  # the file names every package: nothing to resolve, so quick and the same everywhere

    @pydantic.field_validator("python", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @pydantic.field_validator("python")
    @classmethod
    def _minor_versions(cls, value: list[str]) -> list[str]:
        if not value or not all(re.fullmatch(r"3\.\d+", version) for version in value):
            raise ValueError('write versions as "3.12", in quotes')
        return value
