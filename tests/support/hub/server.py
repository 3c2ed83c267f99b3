"""A Hub on the loopback, in memory, for the real Hub clients.

    with Hub() as hub:
        sha = hub.commit("datasets", "org/name", {"pairs.parquet": data})
        ...  # a client in a process of its own, with hub.clients.environment(hub.endpoint, home)

A client fixes its endpoint when it is imported, hence the process. Connections are not kept alive:
a hub that stops is down. Tokens that begin with "hf_loopback_" are accepted and may do anything;
public repositories are read without one. What goes wrong is up to `hub.faults`.
"""

import sys
import threading
import time
from collections.abc import Container, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from support.hub import routes
from support.hub.answers import Answer, Refusal, Request
from support.hub.faults import Fault, Faults, refusal, with_wrong_hashes
from support.hub.repository import Blob, Commit, Kind, Repository, is_kind

Files = Mapping[str, bytes]


class Hub(ThreadingHTTPServer):
    """The server.

    Args:
        faults: What goes wrong; it can be replaced at any time.
        paid_sdks: Space SDKs whose creation is answered by 402, payment required.

    Attributes:
        requests: What was asked, as "METHOD /path?query", in order.
        received: The same requests with headers and bodies, once they have arrived.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *, faults: Faults | None = None, paid_sdks: Container[str] = ()) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults = faults or Faults()
        self.requests: list[str] = []
        self.received: list[Request] = []
        self._site = routes.Site(self.endpoint, paid_sdks)
        self._lock = threading.RLock()
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

    def create(self, kind: Kind, name: str, *, private: bool = False) -> Repository:
        """Create a repository as a client would; it begins with a commit of the Hub's own."""
        with self._lock:
            return routes.create(self._site, kind, name, private=private)

    def commit(
        self, kind: Kind, name: str, files: Files, *, branch: str = "main", title: str = "seeded"
    ) -> str:
        """Put files on top of a branch; branch and repository come into being as needed.

        Returns:
            The commit's id.
        """
        with self._lock:
            repository = self._site.repositories.setdefault((kind, name), Repository(kind, name))
            ref = f"refs/heads/{branch}"
            parent = repository.refs.get(ref)
            present = {} if parent is None else repository.history[parent].files
            added = {path: Blob.of(path, data) for path, data in files.items()}
            return repository.add(ref, parent, {**present, **added}, title).id

    def repository(self, kind: Kind, name: str) -> Repository:
        """Return a repository; KeyError if there is none."""
        return self._site.repositories[kind, name]

    def exists(self, kind: Kind, name: str) -> bool:
        return (kind, name) in self._site.repositories

    def files(self, kind: Kind, name: str, revision: str = "main") -> dict[str, bytes]:
        """Return the files of a revision (branch, tag, refs/pr/N, commit) as one would get them."""
        with self._lock:
            commit = self.repository(kind, name).resolve(revision)
            return {path: blob.data for path, blob in commit.files.items()}

    def commits(self, kind: Kind, name: str, revision: str = "main") -> list[Commit]:
        """Return the commits of a revision, newest first."""
        with self._lock:
            return list(self.repository(kind, name).ancestry(revision))

    def refs(self, kind: Kind, name: str) -> dict[str, str]:
        """Return what every branch, tag and pull request points to, by full name."""
        with self._lock:
            return dict(self.repository(kind, name).refs)

    def leaks(self, secret: str) -> list[str]:
        """Return where a secret was sent or stored, other than in an Authorization header."""
        needle = secret.encode()
        found = []
        for request in list(self.received):
            others = {k: v for k, v in request.headers.items() if k != "authorization"}
            if secret in f"{request.line} {others}" or needle in request.body:
                found.append(request.line)
        for repository in list(self._site.repositories.values()):
            for commit in repository.history.values():
                told = f"{commit.title}\n{commit.message}"
                blobs = {path: blob.data for path, blob in commit.files.items()}
                stored = [path for path, data in blobs.items() if needle in data or secret in path]
                where = stored + ["its message"] * (secret in told)
                found += [f"{repository.url} at {commit.id}: {one}" for one in where]
        return found

    def answer(self, request: Request, fault: Fault | None = None) -> Answer:
        """Answer a request, with what a fault makes of it."""
        if isinstance(fault, int):
            return refusal(fault, self.faults.retry_after)
        with self._lock:
            try:
                answer = routes.answer(self._site, request)
            except Refusal as refused:
                answer = refused.answer
            if fault == "corrupt":
                self._damage(request.segments)
        return with_wrong_hashes(answer) if fault == "wrong-hash" else answer

    def _damage(self, segments: list[str]) -> None:
        """Turn the last bit of the upload that a request made."""
        match segments:
            case ["lfs", kind, org, name, oid] if is_kind(kind):
                objects = self.repository(kind, f"{org}/{name}").objects
                if oid in objects:
                    objects[oid] = objects[oid][:-1] + bytes([objects[oid][-1] ^ 1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong here; that a client went away is no error of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Hub
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        hub = self.server
        line = f"{self.command} {self.path}"
        hub.requests.append(line)
        fault = hub.faults.strike(line)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self._body(half=fault == "half-upload")
        request = Request(self.command, self.path, headers, body)
        hub.received.append(request)
        if callable(fault):
            fault()
            fault = None
        if fault in ("drop", "half-upload"):
            return
        if fault == "slow":
            time.sleep(hub.faults.delay)
        answer = hub.answer(request, fault)
        if fault != "lost-answer":
            self._send(answer, half=fault == "truncate")

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - the base class's names

    def _body(self, *, half: bool) -> bytes:
        """Read what is sent along, or about half of it."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(self._chunks(half=half))
        length = int(self.headers.get("Content-Length", 0))
        return self._read(length // 2 if half else length)

    def _chunks(self, *, half: bool) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"-1", 16):
            yield self._read(size // 2 if half else size)
            if half:
                return
            self.rfile.readline()
        self.rfile.readline()

    def _read(self, size: int) -> bytes:
        data = self.rfile.read(max(size, 0))
        if len(data) != size:
            # As of a client that was killed: what arrived must not pass for what was meant.
            raise ConnectionAbortedError
        return data

    def _send(self, answer: Answer, *, half: bool) -> None:
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body[: len(answer.body) // 2] if half else answer.body)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""
