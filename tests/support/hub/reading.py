"""What a client may ask of a repository: its facts, its files, its history."""

import re
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

from support.hub.answers import Answer, Refusal, Request, json_answer
from support.hub.cards import metadata
from support.hub.repository import Blob, Commit, Discussion, Repository, entry, sha1

RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def read(repository: Repository, request: Request, rest: list[str]) -> Answer:
    """Answer a question about a repository.

    Args:
        repository: The one that is asked about.
        request: GET, or the POST that asks for some paths.
        rest: Segments of the path after the repository's name.
    """
    found: object
    match rest:
        case [] | ["revision", _]:
            commit = repository.resolve(rest[1] if rest else "main")
            found = info(repository, commit, blobs=request.asks_for("blobs"))
        case ["tree", revision, *folder]:
            found = _tree(repository, revision, "/".join(folder), request)
        case ["paths-info", revision]:
            found = _some(repository, revision, request.form.get("paths", []))
        case ["refs"]:
            found = _refs(repository)
        case ["discussions"]:
            found = _discussions(repository)
        case _:
            raise Refusal(HTTPStatus.NOT_FOUND, "NotFound")
    return json_answer(found)


def file(repository: Repository, request: Request, revision: str, path: str) -> Answer:
    """Answer with a file, or the part of it that is asked for."""
    commit = repository.resolve(revision)
    known = {"X-Repo-Commit": commit.id, "Accept-Ranges": "bytes"}
    blob = commit.files.get(path)
    if blob is None:
        raise Refusal(HTTPStatus.NOT_FOUND, "EntryNotFound", headers=known)
    known["ETag"] = f'"{blob.content_id}"'
    if blob.lfs_id is not None:
        size = str(len(blob.data))
        known |= {"X-Linked-Etag": f'"{blob.lfs_id}"', "X-Linked-Size": size}
    asked = RANGE.fullmatch(request.headers.get("range", ""))
    return Answer(blob.data, known) if asked is None else _part(blob.data, asked, known)


def info(repository: Repository, commit: Commit, *, blobs: bool = False) -> dict[str, Any]:
    """Return what the Hub says of a repository at a commit."""
    files = commit.files
    card = metadata(files["README.md"].data) if "README.md" in files else {}
    return {
        "id": repository.name,
        "author": repository.name.split("/")[0],
        "sha": commit.id,
        "lastModified": commit.date,
        "private": repository.private,
        "gated": repository.gated,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "sdk": repository.sdk,
        "tags": tags(card),
        "cardData": card,
        "siblings": [_sibling(path, blob, blobs=blobs) for path, blob in files.items()],
    }


def tags(card: dict[str, Any]) -> list[str]:
    """Return the tags of a repository: those its card names."""
    named = card.get("tags")
    return [str(tag) for tag in named] if isinstance(named, list) else []


def _sibling(path: str, blob: Blob, *, blobs: bool) -> dict[str, Any]:
    if not blobs:
        return {"rfilename": path}
    listed = entry(path, blob)
    sibling = {"rfilename": path, "size": listed["size"], "blobId": listed["oid"]}
    lfs = listed.get("lfs")
    return sibling if lfs is None else {**sibling, "lfs": {**lfs, "sha256": lfs["oid"]}}


def _tree(
    repository: Repository, revision: str, folder: str, request: Request
) -> list[dict[str, Any]]:
    commit = repository.resolve(revision)
    inside = f"{folder}/" if folder else ""
    paths = [path for path in commit.files if path.startswith(inside)]
    if folder and not paths:
        raise Refusal(HTTPStatus.NOT_FOUND, "EntryNotFound", f"{folder} does not exist")
    listed = sorted({*paths, *_folders(paths, inside)})
    if not request.asks_for("recursive"):
        listed = [path for path in listed if "/" not in path.removeprefix(inside)]
    return _some(repository, revision, listed)


def _folders(paths: Iterable[str], inside: str) -> Iterator[str]:
    for path in paths:
        parts = path.removeprefix(inside).split("/")[:-1]
        yield from (inside + "/".join(parts[: n + 1]) for n in range(len(parts)))


def _some(repository: Repository, revision: str, paths: Iterable[str]) -> list[dict[str, Any]]:
    """Return those of the paths that exist, files and folders."""
    files = repository.resolve(revision).files
    found: list[dict[str, Any]] = []
    for path in (path.strip("/") for path in paths):
        if path in files:
            found.append(entry(path, files[path]))
        elif any(other.startswith(f"{path}/") for other in files):
            # Of the names only: a stand-in for the id of git's tree, which nobody can check.
            found.append({"type": "directory", "path": path, "size": 0, "oid": sha1(path.encode())})
    return found


def _refs(repository: Repository) -> dict[str, list[dict[str, str]]]:
    groups = {"branches": "refs/heads/", "tags": "refs/tags/", "pullRequests": "refs/pr/"}
    listed: dict[str, list[dict[str, str]]] = {"converts": []}
    for group, prefix in groups.items():
        listed[group] = [
            {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": commit}
            for ref, commit in repository.refs.items()
            if ref.startswith(prefix)
        ]
    return listed


def _discussions(repository: Repository) -> dict[str, Any]:
    listed = [_about(repository, discussion) for discussion in repository.discussions]
    return {"discussions": listed, "count": len(listed), "start": 0}


def _about(repository: Repository, discussion: Discussion) -> dict[str, Any]:
    return {
        "num": discussion.number,
        "title": discussion.title,
        "author": {"name": "tester"},
        "createdAt": discussion.date,
        "status": "open",
        "isPullRequest": discussion.base is not None,
        "repo": {"name": repository.name, "type": repository.kind.removesuffix("s")},
    }


def _part(data: bytes, asked: re.Match[str], known: dict[str, str]) -> Answer:
    first, last = asked.groups()
    if first:
        start, end = int(first), min(int(last) + 1 if last else len(data), len(data))
    else:
        start, end = max(len(data) - int(last or 0), 0), len(data)
    if start >= end:
        no = {**known, "Content-Range": f"bytes */{len(data)}"}
        status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        raise Refusal(status, "RangeNotSatisfiable", headers=no)
    part = {**known, "Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}
    return Answer(data[start:end], part, HTTPStatus.PARTIAL_CONTENT)
