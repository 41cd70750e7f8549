"""A folder somewhere: files appear and change whole, on a local disk and in an object store alike."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import pyarrow.fs as pafs

from mldevbench.errors import Fault, UserError

Value = TypeVar("Value")
FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 10.0


@dataclass(frozen=True)
class Place:
    """A path on a filesystem; `top` is the folder whose `.aside` takes files that are being written."""

    filesystem: pafs.FileSystem
    path: str
    shown: str
    top: str
    patience: float = 0.0  # for how many seconds a failing storage is tried again

    def child(self, name: str) -> Place:
        return replace(self, path=f"{self.path}/{name}", shown=f"{self.shown}/{name}")

    @property
    def local(self) -> Path | None:
        return Path(self.path) if isinstance(self.filesystem, pafs.LocalFileSystem) else None

    def write(self, name: str, data: bytes) -> None:
        """Create or replace a file whole."""
        self._tried(lambda: self._write_local(name, data) if self.local else self._put(name, data))

    def _write_local(self, name: str, data: bytes) -> None:
        target = Path(self.path) / name
        aside = Path(self.top) / ".aside" / uuid.uuid4().hex
        aside.parent.mkdir(parents=True, exist_ok=True)
        with aside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        target.parent.mkdir(parents=True, exist_ok=True)
        aside.replace(target)

    def _put(self, name: str, data: bytes) -> None:
        with self.filesystem.open_output_stream(f"{self.path}/{name}") as stream:
            stream.write(data)

    def take(self, name: str, source: Path) -> None:
        """Bring a local file in, whole, without holding it in memory."""
        with source.open("rb") as file:
            self._tried(lambda: self._stream(name, file))

    def _stream(self, name: str, file: BinaryIO) -> None:
        target = f"{self.path}/{name}" if not self.local else f"{self.top}/.aside/{uuid.uuid4().hex}"
        if self.local:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
        file.seek(0)
        with self.filesystem.open_output_stream(target) as stream:
            while chunk := file.read(1 << 20):
                stream.write(chunk)
        if self.local:
            final = Path(self.path) / name
            final.parent.mkdir(parents=True, exist_ok=True)
            Path(target).replace(final)

    def bring(self, name: str, target: Path) -> None:
        """Copy a file out to a local path."""

        def copy() -> None:
            with (
                self.filesystem.open_input_stream(f"{self.path}/{name}") as stream,
                target.open("wb") as file,
            ):
                while chunk := stream.read(1 << 20):
                    file.write(chunk)

        self._tried(copy)

    def read(self, name: str) -> bytes:
        return self._tried(lambda: self._read(name))

    def _read(self, name: str) -> bytes:
        with self.filesystem.open_input_stream(f"{self.path}/{name}") as stream:
            return cast(bytes, stream.read())

    def has(self, name: str) -> bool:
        kind = self._tried(lambda: self.filesystem.get_file_info(f"{self.path}/{name}").type)
        return kind is not pafs.FileType.NotFound

    def names(self, folder: str = "") -> list[str]:
        """Return the names directly inside a folder, sorted; none if it isn't there."""
        where = f"{self.path}/{folder}" if folder else self.path
        selector = pafs.FileSelector(where, allow_not_found=True)
        found = self._tried(lambda: cast(Iterable[pafs.FileInfo], self.filesystem.get_file_info(selector)))
        return sorted(info.base_name for info in found)

    def remove(self, name: str) -> None:
        if self.has(name):
            self._tried(lambda: self.filesystem.delete_file(f"{self.path}/{name}"))

    def _tried(self, act: Callable[[], Value]) -> Value:
        deadline, wait = time.monotonic() + self.patience, FIRST_WAIT_SECONDS
        while True:
            try:
                return act()
            except FileNotFoundError:
                raise
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise Fault("storage_error", f"{self.shown}: {error}") from error
            time.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT_SECONDS)


def open_place(storage: str) -> Place:
    """Return the place that a folder name or a URL means."""
    if "://" not in storage:
        path = str(Path(storage).expanduser().absolute())
        return Place(pafs.LocalFileSystem(), path, storage, path)
    try:
        filesystem, path = pafs.FileSystem.from_uri(storage)
    except (ValueError, OSError, ImportError) as error:
        raise UserError(f"storage {storage!r} can't be opened ({error}); choose another with --storage") from None
    return Place(filesystem, path.rstrip("/"), storage, path.rstrip("/"))


def check_writable(place: Place) -> None:
    """Refuse a storage that can't be written, before anything starts."""
    probe = f".probe-{uuid.uuid4().hex}"  # two studies may ask at the same moment
    try:
        place.write(probe, b"")
        place.remove(probe)
    except (Fault, OSError) as error:
        raise UserError(f"storage {place.shown!r} can't be written ({error}); choose another with --storage") from None
