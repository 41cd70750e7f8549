"""The room: where submitted code runs during validation, with inputs only and no word in the verdict."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from mldevbench.room import weights
from mldevbench.room.call import Call, last_lines, spec_of
from mldevbench.room.settings import RoomSettings, room_settings
from mldevbench.sandbox.opening import opaque_folder, open_sandbox
from mldevbench.sandbox.protocol import Finished, Sandbox
from mldevbench.submission import Submission, collect, erase, open_submission
from mldevbench.submission.pattern import WILDCARDS
from mldevbench.unmet import Unmet

Added = Mapping[str, bytes | Path]


class Room:
    """Chosen files of a submission, with pristine ones laid over them, in sandboxes of their own.

    Every `call` gets a fresh copy of the files and a fresh process: nothing is carried from one to the next.
    `run` works in one copy that lives as long as the room.
    """

    def __init__(
        self,
        submission: Submission,
        files: Sequence[str] = ("**",),
        add: Added | None = None,
        *,
        max_mb: float = 512,
        settings: RoomSettings | None = None,
    ) -> None:
        self.files = chosen(submission, files, max_mb)
        self.source = submission
        self.add = dict(add or {})
        self.settings = settings or room_settings.get()
        self.folder = Path()
        self.sandbox: Sandbox | None = None
        self.own: Path | None = None
        self.torch = any(mentions_torch(submission.path(path)) for path in self.files if path.endswith(".py"))

    def __enter__(self) -> Room:
        self.folder = opaque_folder(self.settings.scratch)
        return self

    def __exit__(self, *_: object) -> None:
        self.close_sandbox()
        erase(self.folder)

    def call(
        self,
        probe: Path | str,
        inputs: Mapping[str, Any],
        seconds: float = 60,
        *,
        fresh: bool = True,
        max_mb: float = 256,
    ) -> dict[str, Any]:
        """Call `probe(inputs)` beside the submitted code; what comes back is plain, and untrusted.

        `fresh=False` asks for the files as `run` left them.
        """
        source = probe.read_text(encoding="utf-8") if isinstance(probe, Path) else probe
        call = Call(source, inputs, seconds, max_mb, self.torch or "torch" in source)
        if not fresh:
            self.close_sandbox()
            return call.ask(self.settings, self.workspace)
        workspace = self.copy()
        try:
            return call.ask(self.settings, workspace)
        finally:
            erase(workspace)

    def run(
        self, argv: Sequence[str], seconds: float = 60, *, environment: Mapping[str, str] | None = None
    ) -> Finished:
        """Run a command in the room's own copy; nothing that it says decides by itself."""
        allowed = self.settings.seconds_left(seconds)
        sandbox = self.sandbox = self.sandbox or self.open()
        finished = sandbox.run(argv, seconds=allowed, environment=environment)
        if breach := sandbox.breach():
            raise Unmet(f"running {argv[-1]}", "code that stays within the limits", f"it broke the limit of {breach}")
        return finished

    def submission(self, patterns: Sequence[str], max_mb: float = 50) -> Submission:
        """End what still runs and return what the code left, as a submission of its own."""
        self.close_sandbox()
        left = opaque_folder(self.folder)
        manifest = collect(self.workspace, patterns, max_mb, left / "left.tar")
        return open_submission(left / "left.tar", manifest.digest, left / "left")

    def load_weights(self, path: str, seconds: float = 60, *, max_mb: float = 1024) -> dict[str, np.ndarray]:
        """Return a checkpoint's tensors as arrays; it is opened inside, since no pickle is safe outside."""
        if not self.source.has(path):
            raise Unmet(path, f"a checkpoint {path}", self.source.why_not(path))
        answer = self.call(Path(weights.__file__), {"path": path}, seconds, max_mb=max_mb)
        odd = [name for name, value in answer.items() if not isinstance(value, np.ndarray)]
        if odd or not answer:
            raise Unmet(path, f"{path} as a state dict of tensors", "no tensors" if not odd else f"{odd[0]} is none")
        return answer

    @property
    def workspace(self) -> Path:
        """The one copy that `run` works in, made when it is first needed."""
        if self.own is None:
            self.own = self.copy()
        return self.own

    def copy(self) -> Path:
        """Return a new folder with the submission's files and the pristine ones over them."""
        place = opaque_folder(self.folder)
        for path in self.files:
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.source.path(path), target)
        for path, content in self.add.items():
            lay(place, path, content)
        return place

    def open(self) -> Sandbox:
        return open_sandbox(spec_of(self.settings, self.workspace), self.settings.isolation)

    def close_sandbox(self) -> None:
        if self.sandbox is not None:
            self.sandbox.close()
            self.sandbox = None


def mentions_torch(path: Path) -> bool:
    """Guess whether code imports torch: a wrong guess costs time, nothing else."""
    with path.open("rb") as file:
        return b"torch" in file.read(1 << 20)


def chosen(submission: Submission, patterns: Sequence[str], max_mb: float) -> list[str]:
    """Return the submitted files that a room gets; one that is named outright must be there."""
    found: dict[str, None] = {}
    for pattern in patterns:
        if not WILDCARDS.intersection(pattern):
            submission.path(pattern)
        found.update(dict.fromkeys(submission.matching(pattern)))
    size = sum(submission.files[path].size for path in found)
    if size > max_mb * 1_000_000:
        raise Unmet("size of the code", f"at most {max_mb:g} MB in {', '.join(patterns)}", f"{size / 1e6:.1f} MB")
    return sorted(found)


def lay(place: Path, path: str, content: bytes | Path) -> None:
    """Put a pristine file in place, whatever the submission has there."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts:
        raise ValueError(f"{path!r} leads out of the room")
    target = place / parts
    for above in list(target.relative_to(place).parents)[:-1]:
        if (place / above).is_file():
            (place / above).unlink()
    if target.is_dir():
        shutil.rmtree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Path):
        shutil.copyfile(content, target)
    else:
        target.write_bytes(content)


def ran_well(finished: Finished, what: str, seconds: float) -> None:
    """Raise Unmet if a command plainly broke; that it ended well proves nothing."""
    if finished.timed_out:
        raise Unmet(what, f"an end within {seconds:g} s", f"it still ran{last_lines(finished)}")
    if finished.exit_code != 0:
        raise Unmet(what, "a run without an error", f"exit code {finished.exit_code}{last_lines(finished)}")
