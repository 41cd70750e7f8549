"""Import: take in a study that someone else exported; every member is checked before it is kept."""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path

import pyarrow as pa
import yaml

from mldevbench.digest import of_bytes, of_file
from mldevbench.errors import UserError
from mldevbench.records import AttemptRow, CheckRow, RegradeRow, RunRow, StepRow
from mldevbench.schema import rows_of
from mldevbench.share.artifact import artifact_of
from mldevbench.share.package import MANIFEST, ROWS, SALT, Manifest, read_manifest
from mldevbench.store.parts import read_table
from mldevbench.store.place import Place

RECORDS = {"runs": RunRow, "attempts": AttemptRow, "checks": CheckRow, "regrades": RegradeRow, "steps": StepRow}
LARGEST_TABLE = 1 << 30


def take_in(source: Path, storage: Place, name: str | None = None) -> tuple[str, Manifest]:
    """Unpack a package as a study of the storage; return its name and manifest."""
    if not source.is_file():
        raise UserError(f"{source}: isn't there")
    try:
        with tarfile.open(source) as tar:
            members = {member.name: member for member in tar.getmembers()}
            if MANIFEST not in members:
                raise UserError(f"{source}: is no study that mldevbench exported")
            manifest = read_manifest(_bytes(tar, members[MANIFEST]), str(source))
            _check_members(members, manifest, source)
            chosen = _free_name(storage, name or manifest.name)
            _keep(tar, members, manifest, storage, chosen)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise UserError(f"{source}: can't be read ({error}); fetch it again") from None
    return chosen, manifest


def _check_members(members: dict[str, tarfile.TarInfo], manifest: Manifest, source: Path) -> None:
    """Refuse what an export never holds: other names, links, members without a digest."""
    for name, member in members.items():
        known = name in ("study.yaml", SALT, MANIFEST) or ROWS.fullmatch(name) or artifact_of(name)
        if not known or not member.isreg():
            raise UserError(f"{source}: holds {name!r}, which no export does; it is not taken in")
    if {*members} - {MANIFEST} != {*manifest.files} or "study.yaml" not in members:
        raise UserError(f"{source}: its members are not those of its manifest; fetch it again")


def _free_name(storage: Place, name: str) -> str:
    from mldevbench.study import check_name

    if storage.has(f"{check_name(name)}/study.yaml"):
        raise UserError(f"study {name!r} is there already; take it in with --name, then merge both")
    return name


def _keep(
    tar: tarfile.TarFile, members: dict[str, tarfile.TarInfo], manifest: Manifest, storage: Place, name: str
) -> None:
    child = storage.child(name)
    place = Place(child.filesystem, child.path, child.shown, child.path)
    # The request last: only then is it a study.
    order = sorted(set(manifest.files) - {"study.yaml", SALT}) + [SALT] * (SALT in members) + ["study.yaml"]
    for one in order:
        if artifact_of(one):
            _keep_file(tar, members[one], manifest.files[one], place)
            continue
        data = _bytes(tar, members[one])
        if of_bytes(data) != manifest.files[one]:
            raise UserError(f"{one}: was changed after the export; fetch the file again")
        if one == SALT:
            _keep_salt(storage, data, manifest)
        else:
            place.write(one, _checked(one, data, name))


def _keep_file(tar: tarfile.TarFile, member: tarfile.TarInfo, digest: str, place: Place) -> None:
    reader = tar.extractfile(member)
    assert reader
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        with copy.open("wb") as file:
            while chunk := reader.read(1 << 20):
                file.write(chunk)
        if of_file(copy) != digest:
            raise UserError(f"{member.name}: was changed after the export; fetch the file again")
        place.take(member.name, copy)


def _checked(name: str, data: bytes, study: str) -> bytes:
    """Return a file's content if it is what its name says."""
    try:
        if name == "study.yaml":
            raw = yaml.safe_load(data)
            return yaml.safe_dump({**raw, "name": study}, sort_keys=False, allow_unicode=True).encode()
        rows_of(RECORDS[name.split("/", 1)[0]], read_table(data))
    except (pa.ArrowException, yaml.YAMLError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"{name}: is not what an export holds ({error})") from None
    return data


def _keep_salt(storage: Place, data: bytes, manifest: Manifest) -> None:
    if storage.has(".salt") and storage.read(".salt").strip() != data.strip():
        raise UserError(
            f"{storage.shown} has a salt of its own, and studies of two salts can't be paired; "
            f"take {manifest.name!r} in under another --storage"
        )
    if not storage.has(".salt"):
        storage.write(".salt", data)
        if storage.local:
            (storage.local / ".salt").chmod(0o600)


def _bytes(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    if member.size > LARGEST_TABLE:
        raise UserError(f"{member.name}: has {member.size >> 20} MB, more than any export; it is not taken in")
    reader = tar.extractfile(member)
    if reader is None:
        raise UserError(f"{member.name}: is no regular file; it is not taken in")
    return reader.read()
