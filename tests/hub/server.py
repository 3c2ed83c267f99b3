"""A Hub on the loopback, in memory, for the real Hub clients: so far what they need to read.

    with Hub() as hub:
        sha = hub.commit("datasets", "org/name", {"pairs.parquet": data})
        ...  # a client in a process of its own, with HF_ENDPOINT=hub.endpoint

A client fixes its endpoint when it is imported, hence the process. Connections are not kept alive:
a hub that stops is down.
"""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self
from urllib.parse import unquote, urlsplit

Kind = Literal["datasets", "models", "spaces"]
Files = Mapping[str, bytes]


@dataclass
class Repository:
    """Commits by id, in order, and what branches and tags point to."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    def resolve(self, revision: str) -> str:
        """Return the commit of a branch, a tag or a commit's full id."""
        commit = self.refs.get(revision, revision)
        if commit not in self.commits:
            raise Refusal(HTTPStatus.NOT_FOUND, "RevisionNotFound")
        return commit


class Refusal(Exception):  # noqa: N818 - an answer, not an error
    """An answer other than 200, with the code by which clients tell one from another."""

    def __init__(self, status: HTTPStatus, code: str) -> None:
        super().__init__(code)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Answer:
    """A body and its headers."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Hub(ThreadingHTTPServer):
    """The server; `requests` lists what was asked of it, as "METHOD /path"."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[str] = []
        self._repositories: dict[tuple[Kind, str], Repository] = {}
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Go down, once and for all."""
        self.shutdown()
        self._thread.join()
        self.server_close()

    def commit(self, kind: Kind, name: str, files: Files, *, branch: str = "main") -> str:
        """Put files on top of a branch, which comes into being as needed; return the commit."""
        repository = self._repositories.setdefault((kind, name), Repository())
        parent = repository.refs.get(branch, "")
        tree = {**repository.commits.get(parent, {}), **files}
        commit = _sha1(f"{name} {len(repository.commits)} after {parent}".encode())
        repository.commits[commit] = tree
        repository.refs[branch] = commit
        return commit

    def answer(self, method: str, path: str, *, known: bool) -> Answer:
        """Answer a request.

        Args:
            method: GET or HEAD.
            path: With quoted segments, without the query.
            known: Whether the client says who it is; to others the Hub does not admit that there
                is no such repository.
        """
        if method not in ("GET", "HEAD"):
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "MethodNotAllowed")
        match [unquote(segment) for segment in path.strip("/").split("/")]:
            case ["api", ("datasets" | "models" | "spaces") as kind, org, name, *rest]:
                repository = self._find(kind, f"{org}/{name}", known=known)
                return _api(f"{org}/{name}", repository, rest)
            case [("datasets" | "spaces") as kind, org, name, "resolve", revision, *file]:
                repository = self._find(kind, f"{org}/{name}", known=known)
                return _file(repository, revision, "/".join(file))
            case [org, name, "resolve", revision, *file]:
                repository = self._find("models", f"{org}/{name}", known=known)
                return _file(repository, revision, "/".join(file))
        raise Refusal(HTTPStatus.NOT_FOUND, "NotFound")

    def _find(self, kind: Kind, name: str, *, known: bool) -> Repository:
        repository = self._repositories.get((kind, name))
        if repository is None:
            status = HTTPStatus.NOT_FOUND if known else HTTPStatus.UNAUTHORIZED
            raise Refusal(status, "RepoNotFound")
        return repository


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        path, known = urlsplit(self.path).path, "Authorization" in self.headers
        try:
            answer = self.server.answer(self.command, path, known=known)
            self._send(HTTPStatus.OK, answer.body, answer.headers)
        except Refusal as refusal:
            body = json.dumps({"error": refusal.code}).encode()
            self._send(refusal.status, body, {"X-Error-Code": refusal.code})

    do_HEAD = do_GET  # noqa: N815 - the base class calls it by this name

    def _send(self, status: HTTPStatus, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


def _api(name: str, repository: Repository, rest: list[str]) -> Answer:
    match rest:
        case [] | ["revision", _]:
            commit = repository.resolve(rest[1] if rest else "main")
            return _json(_info(name, commit, repository.commits[commit]))
        case ["tree", revision, *folder]:
            files = repository.commits[repository.resolve(revision)]
            inside = "".join(f"{part}/" for part in folder)
            return _json([_entry(p, data) for p, data in files.items() if p.startswith(inside)])
    raise Refusal(HTTPStatus.NOT_FOUND, "NotFound")


def _file(repository: Repository, revision: str, path: str) -> Answer:
    commit = repository.resolve(revision)
    data = repository.commits[commit].get(path)
    if data is None:
        raise Refusal(HTTPStatus.NOT_FOUND, "EntryNotFound")
    return Answer(data, {"X-Repo-Commit": commit, "ETag": f'"{_git_id(data)}"'})


def _info(name: str, commit: str, files: Files) -> dict[str, Any]:
    return {
        "id": name,
        "sha": commit,
        "private": False,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "siblings": [{"rfilename": path} for path in files],
    }


def _entry(path: str, data: bytes) -> dict[str, Any]:
    return {"type": "file", "path": path, "size": len(data), "oid": _git_id(data)}


def _json(value: object) -> Answer:
    return Answer(json.dumps(value).encode(), {"Content-Type": "application/json"})


def _git_id(data: bytes) -> str:
    """Return the id git gives a file."""
    return _sha1(b"blob %d\0" % len(data) + data)


def _sha1(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()
