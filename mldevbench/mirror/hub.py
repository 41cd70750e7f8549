"""The Hugging Face hub's own paths, as far as its clients need them to download."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from aiohttp import web

from mldevbench.mirror.shelf import LARGE, Item, Repository, Shelf

API = re.compile(r"api/(?P<kind>models|datasets)/(?P<rest>.+)")
RESOLVE = re.compile(r"(?:(?P<kind>datasets)/)?(?P<name>[^/]+(?:/[^/]+)?)/(?:resolve|raw)/(?P<rest>.+)")
CREATED = "2024-01-01T00:00:00.000Z"  # always: a time would tell of the run


class Missing(Exception):
    """Something that the hub would not have either, with its word for it."""

    def __init__(self, code: str, what: str) -> None:
        super().__init__(what)
        self.code = code


def find_file(shelf: Shelf, path: str) -> tuple[Repository, Item] | None:
    """Return the file that a download address means, None if it is no such address."""
    match = RESOLVE.fullmatch(path)
    if match is None:
        return None
    repository = _repository(shelf, match["kind"] or "models", match["name"])
    revision, _, name = _revision(repository, match["rest"])
    if name not in repository.files:
        raise Missing("EntryNotFound", f"{name} is not in {repository.name} at {revision}")
    return repository, repository.files[name]


def answer_api(shelf: Shelf, path: str, form: dict[str, Any]) -> Any:
    """Return what the hub's interface says, None if it has nothing at that address."""
    match = API.fullmatch(path)
    if match is None:
        return None
    for (kind, name), repository in shelf.repositories.items():
        if kind == match["kind"] and (match["rest"] == name or match["rest"].startswith(f"{name}/")):
            return _answer(repository, match["rest"][len(name) + 1 :], form)
    raise Missing("RepoNotFound", f"no repository {match['rest']} on this mirror")


def headers_of(repository: Repository, item: Item) -> dict[str, str]:
    return {"X-Repo-Commit": repository.commit, "ETag": f'"{item.sha256 if item.size >= LARGE else item.oid}"'}


def refusal(missing: Missing) -> web.Response:
    headers = {"X-Error-Code": missing.code, "X-Error-Message": str(missing)}
    return web.json_response({"error": str(missing)}, status=404, headers=headers)


def _answer(repository: Repository, rest: str, form: dict[str, Any]) -> Any:
    word, _, rest = rest.partition("/")
    answers: dict[str, Callable[[], Any]] = {
        "": lambda: _about(repository),
        "refs": lambda: _refs(repository),
        "revision": lambda: _about(repository) if _revision(repository, rest) else None,
        "tree": lambda: list(_tree(repository, _revision(repository, rest)[2], form)),
        "paths-info": lambda: list(_paths(repository, _revision(repository, rest) and form)),
    }
    return answers[word]() if word in answers else None


def _about(repository: Repository) -> dict[str, Any]:
    siblings = [{"rfilename": name, "size": item.size, "blobId": item.oid} for name, item in repository.files.items()]
    return {
        "_id": repository.commit[:24], "id": repository.name, "modelId": repository.name, "sha": repository.commit,
        "private": False, "gated": False, "disabled": False, "downloads": 0, "likes": 0, "tags": [],
        "createdAt": CREATED, "lastModified": CREATED, "siblings": siblings,
    }  # fmt: skip


def _refs(repository: Repository) -> dict[str, Any]:
    branch = {"name": "main", "ref": "refs/heads/main", "targetCommit": repository.commit}
    return {"branches": [branch], "converts": [], "tags": []}


def _tree(repository: Repository, folder: str, form: dict[str, Any]) -> Iterator[dict[str, Any]]:
    prefix = f"{folder}/" if folder else ""
    recursive = str(form.get("recursive", "")).lower() in ("true", "1")
    inside = [name for name in repository.files if name.startswith(prefix)]
    if prefix and not inside:
        raise Missing("EntryNotFound", f"{folder} is not in {repository.name}")
    folders = {prefix + "/".join(parts[:n]) for name in inside for parts in [name[len(prefix) :].split("/")]
               for n in range(1, len(parts))}  # fmt: skip
    for name in sorted(folders):
        if recursive or "/" not in name[len(prefix) :]:
            yield {"type": "directory", "oid": repository.commit, "size": 0, "path": name}
    for name in inside:
        if recursive or "/" not in name[len(prefix) :]:
            yield _entry(name, repository.files[name])


def _paths(repository: Repository, form: dict[str, Any]) -> Iterator[dict[str, Any]]:
    asked = form.get("paths", [])
    for name in [asked] if isinstance(asked, str) else asked:
        if name in repository.files:
            yield _entry(name, repository.files[name])
        elif any(held.startswith(f"{name}/") for held in repository.files):
            yield {"type": "directory", "oid": repository.commit, "size": 0, "path": name}


def _entry(name: str, item: Item) -> dict[str, Any]:
    entry = {"type": "file", "oid": item.oid, "size": item.size, "path": name}
    large = {"oid": item.sha256, "size": item.size, "pointerSize": 134}
    return {**entry, "lfs": large} if item.size >= LARGE else entry


def _repository(shelf: Shelf, kind: str, name: str) -> Repository:
    found = shelf.repositories.get((kind, name))
    if found is None:
        raise Missing("RepoNotFound", f"no repository {name} on this mirror")
    return found


def _revision(repository: Repository, rest: str) -> tuple[str, str, str]:
    """Part the revision from what follows it."""
    revision, slash, path = rest.partition("/")
    if not repository.has(revision):
        raise Missing("RevisionNotFound", f"{repository.name} has no revision {revision}")
    return revision, slash, path
