"""Lays the reference solution over the workspace and runs its script, as an agent would act."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.agent import Context
from mldevbench.records import Step

UNPACK = "import sys, tarfile; tarfile.open(fileobj=sys.stdin.buffer, mode='r|').extractall('.', filter='data')"


class Oracle:
    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = params

    def run(self, instruction: str, context: Context) -> None:
        assert context.solution is not None
        self._act(context, ["python3", "-c", UNPACK], _tar(context.solution))
        if (context.solution / "solve.sh").is_file():
            self._act(context, ["bash", "-c", "bash solve.sh; code=$?; rm -f solve.sh; exit $code"], b"")

    def _act(self, context: Context, argv: list[str], stdin: bytes) -> None:
        done = context.sandbox.run(argv, seconds=context.budget.wall_seconds, stdin=stdin)
        text = done.output.decode(errors="replace")
        context.record(Step("tool", text, "shell", argv[-1], done.exit_code, done.seconds))


def _tar(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name, filter=_anonymous)
    return buffer.getvalue()


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return None if "__pycache__" in entry.name else entry
