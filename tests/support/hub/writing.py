"""What a client may do to a repository; each either happens as a whole or not at all."""

import base64
import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import Any

from support.hub import cards
from support.hub.answers import Answer, Refusal, Request, json_answer
from support.hub.repository import Blob, Commit, Repository, goes_to_lfs, sha256


def write(repository: Repository, request: Request, rest: list[str], endpoint: str) -> Answer:
    """Carry out what is asked.

    Args:
        repository: The one that is to change.
        request: POST, PUT or DELETE.
        rest: Segments of the path after the repository's name.
        endpoint: Of the Hub: some answers hold addresses.
    """
    match [request.method, *rest]:
        case ["POST", "preupload", revision]:
            found = _preupload(repository, revision, request.json)
        case ["POST", "commit", revision]:
            pull = request.asks_for("create_pr")
            found = _commit(repository, revision, request.body, endpoint, pull=pull)
        case ["POST", "tag", revision]:
            found = _name(repository, f"refs/tags/{request.json['tag']}", revision)
        case _:
            raise Refusal(HTTPStatus.NOT_FOUND, "NotFound")
    return json_answer(found)


def _preupload(repository: Repository, revision: str, asked: dict[str, Any]) -> dict[str, Any]:
    files = repository.resolve(revision).files

    def advise(path: str, size: int) -> dict[str, Any]:
        present = files.get(path)
        return {
            "path": path,
            "uploadMode": "lfs" if goes_to_lfs(path, size) else "regular",
            "shouldIgnore": False,
            "oid": None if present is None else present.content_id,
        }

    return {"files": [advise(file["path"], file["size"]) for file in asked["files"]]}


def _commit(
    repository: Repository, revision: str, body: bytes, endpoint: str, *, pull: bool
) -> dict[str, Any]:
    head = repository.resolve(revision)
    ref = repository.ref(revision)
    if not pull and (ref is None or ref.startswith("refs/tags/")):
        message = f"{revision} is no branch that can be committed to"
        raise Refusal(HTTPStatus.NOT_FOUND, "RevisionNotFound", message)
    header, operations = _parse(body)
    parent = header.get("parentCommit")
    if parent not in (None, head.id):
        message = "A commit has happened since. Please refresh and try again."
        raise Refusal(HTTPStatus.PRECONDITION_FAILED, "PreconditionFailed", message)
    files = dict(head.files)
    for key, value in operations:
        _apply(repository, files, key, value)
    _check_card(files)
    title, message = header["summary"], header.get("description", "")
    number = None
    if pull:
        number = repository.discuss(title, message, base=revision).number
        ref = f"refs/pr/{number}"
    commit = repository.add(str(ref), head.id, files, title, message)
    return _committed(f"{endpoint}/{repository.url}", commit, number)


def _committed(page: str, commit: Commit, pull: int | None) -> dict[str, Any]:
    url = None if pull is None else f"{page}/discussions/{pull}"
    return {
        "success": True,
        "commitOid": commit.id,
        "commitUrl": f"{page}/commit/{commit.id}",
        "hookOutput": "",
        **({} if url is None else {"pullRequestUrl": url}),
    }


def _parse(body: bytes) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]:
    """Return the header and the operations of a commit."""
    try:
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        (first, header), *operations = ((line["key"], line["value"]) for line in lines)
    except (ValueError, KeyError, TypeError) as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, "BadRequest", f"no commit: {error}") from error
    if first != "header" or not header.get("summary"):
        raise Refusal(HTTPStatus.BAD_REQUEST, "BadRequest", "a commit begins with its header")
    return header, operations


def _apply(repository: Repository, files: dict[str, Blob], key: str, value: dict[str, Any]) -> None:
    """Change `files` by one operation of a commit."""
    path = _checked(value["path"])
    match key:
        case "file":
            encoded = value.get("encoding") == "base64"
            text = value["content"]
            files[path] = Blob(base64.b64decode(text) if encoded else text.encode())
        case "lfsFile":
            data = repository.objects.get(value["oid"])
            if data is None:
                message = f"LFS pointer pointed to a file that does not exist: {path}"
                raise Refusal(HTTPStatus.BAD_REQUEST, "BadRequest", message)
            files[path] = Blob.lfs(data, value["oid"])
        case "deletedFile" | "deletedFolder":
            gone = [one for one in files if one == path or one.startswith(f"{path}/")]
            if not gone or (key == "deletedFile" and path not in files):
                message = f"A file with this name doesn't exist: {path}"
                raise Refusal(HTTPStatus.NOT_FOUND, "EntryNotFound", message)
            for one in gone:
                del files[one]
        case _:
            raise Refusal(HTTPStatus.BAD_REQUEST, "BadRequest", f"unknown operation {key}")


def _checked(path: str) -> str:
    parts = PurePosixPath(path.rstrip("/")).parts
    if not parts or parts[0] == "/" or {"..", ".git"} & {*parts} or "\\" in path:
        raise Refusal(HTTPStatus.BAD_REQUEST, "BadRequest", f"invalid path: {path!r}")
    return "/".join(parts)


def _check_card(files: dict[str, Blob]) -> None:
    if "README.md" in files:
        problems = cards.faults(files["README.md"].data.decode())
        if problems:
            raise Refusal(HTTPStatus.BAD_REQUEST, "BadRequest", "; ".join(problems))


def _name(repository: Repository, ref: str, revision: str) -> dict[str, Any]:
    commit = repository.resolve(revision)
    if ref in repository.refs:
        raise Refusal(HTTPStatus.CONFLICT, "Conflict", f"Reference already exists: {ref}")
    repository.refs[ref] = commit.id
    return {}


def lfs_batch(repository: Repository, asked: dict[str, Any], endpoint: str) -> Answer:
    """Say where to upload the files that are not there yet."""

    def advise(oid: str, size: int) -> Iterator[tuple[str, Any]]:
        yield from (("oid", oid), ("size", size))
        if oid not in repository.objects:
            repository.expected[oid] = size
            verify = f"{endpoint}/{repository.url}.git/info/lfs/objects/verify"
            upload = f"{endpoint}/lfs/{repository.kind}/{repository.name}/{oid}"
            yield "actions", {"upload": {"href": upload}, "verify": {"href": verify}}

    objects = [dict(advise(one["oid"], one["size"])) for one in asked["objects"]]
    return json_answer({"transfer": "basic", "objects": objects})


def lfs_upload(repository: Repository, oid: str, data: bytes) -> Answer:
    """Keep a file that was announced, if it is the one that was announced."""
    if oid not in repository.expected:
        raise Refusal(HTTPStatus.FORBIDDEN, "Forbidden", f"nobody announced {oid}")
    if sha256(data) != oid or len(data) != repository.expected[oid]:
        raise Refusal(HTTPStatus.BAD_REQUEST, "BadDigest", "this is not the file announced")
    repository.objects[oid] = data
    return Answer()


def lfs_verify(repository: Repository, asked: dict[str, Any]) -> Answer:
    """Say whether an upload has arrived."""
    data = repository.objects.get(asked["oid"])
    if data is None or len(data) != asked["size"]:
        raise Refusal(HTTPStatus.NOT_FOUND, "NotFound", f"no such upload: {asked['oid']}")
    return Answer()
