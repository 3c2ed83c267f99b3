"""Fetching declared files, from a real HTTP server on the loopback."""

import hashlib
import http.server
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nnd.converters.convert import convert
from nnd.converters.download import cache_folder, fetch
from nnd.converters.source import SourceFile
from nnd.schemas import SourceError

BODY = b'{"some": "annotations"}\n'
DIGEST = hashlib.sha256(BODY).hexdigest()


@dataclass
class Server:
    """A server that answers every path with one body.

    Attributes:
        url: Where it listens, without a slash at the end.
        body: What it sends.
        announced: Content-Length, or None for the true one.
        chunked: Whether to send half of the body as a chunk and hang up.
        asked: Paths asked for so far.
    """

    url: str
    body: bytes = BODY
    announced: int | None = None
    chunked: bool = False
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)

    class Handler(http.server.BaseHTTPRequestHandler):
        state: ClassVar[Server]

        def do_GET(self) -> None:
            self.state.asked.append(self.path)
            if self.path == "/missing":
                self.send_error(404)
                return
            self.send_response(200)
            if self.state.chunked:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(b"ff\r\n" + self.state.body)
            else:
                length = self.state.announced or len(self.state.body)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(self.state.body)

        def log_message(self, *_: object) -> None:
            pass

    Handler.protocol_version = "HTTP/1.1"
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        Handler.state = Server(f"http://127.0.0.1:{listening.server_port}")
        Handler.close_connection = True
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield Handler.state
        listening.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def declared(url: str | None, sha256: str | None = DIGEST) -> SourceFile:
    return SourceFile("a.jsonl", url, sha256, len(BODY))


def cached(cache: Path) -> list[str]:
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file())


def test_a_file_is_fetched_into_the_cache(server: Server, cache: Path) -> None:
    path = fetch(declared(f"{server.url}/a"), "toy")

    assert path == cache / "toy/a.jsonl"
    assert path.read_bytes() == BODY
    assert cached(cache) == ["toy/a.jsonl"]


def test_a_file_in_the_cache_is_not_fetched_again(server: Server) -> None:
    file = declared(f"{server.url}/a")

    assert fetch(file, "toy") == fetch(file, "toy")
    assert server.asked == ["/a"]


def test_a_damaged_file_in_the_cache_is_fetched_again(server: Server, cache: Path) -> None:
    (cache / "toy").mkdir(parents=True)
    (cache / "toy/a.jsonl").write_bytes(BODY[:5])

    assert fetch(declared(f"{server.url}/a"), "toy").read_bytes() == BODY


def test_another_file_than_the_declared_one_is_not_kept(server: Server, cache: Path) -> None:
    server.body = b"<html>Sign in</html>"

    with pytest.raises(SourceError, match=r"not the declared file \(SHA-256 differs\).*--from"):
        fetch(declared(f"{server.url}/a"), "toy")

    assert cached(cache) == []


def test_a_failed_fetch_leaves_the_cached_file_as_it_was(server: Server, cache: Path) -> None:
    old = declared(f"{server.url}/a")
    fetch(old, "toy")
    newer = declared(f"{server.url}/a", sha256="0" * 64)

    with pytest.raises(SourceError):
        fetch(newer, "toy")

    assert (cache / "toy/a.jsonl").read_bytes() == BODY


def test_an_answer_404_is_an_error_with_the_way_out(server: Server, cache: Path) -> None:
    with pytest.raises(SourceError) as caught:
        fetch(declared(f"{server.url}/missing"), "toy")

    assert str(caught.value) == (
        f"{server.url}/missing: cannot be fetched: HTTP Error 404: Not Found; "
        "name your copy with --from"
    )
    assert cached(cache) == []


def test_a_refused_connection_is_an_error_with_the_way_out(cache: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and never listens
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a"

        with pytest.raises(SourceError, match=r"cannot be fetched: .*Connection refused.*--from"):
            fetch(declared(url), "toy")

    assert cached(cache) == []


@pytest.mark.parametrize("sha256", [DIGEST, None], ids=["digest", "no digest"])
def test_a_body_that_is_cut_off_is_not_kept(
    server: Server, cache: Path, sha256: str | None
) -> None:
    # 24 bytes of 100 arrive. Without a digest, only the announced length can tell.
    server.announced = 100

    with pytest.raises(SourceError, match="76 bytes did not arrive; try again"):
        fetch(declared(f"{server.url}/a", sha256), "toy")

    assert cached(cache) == []


def test_chunks_that_are_cut_off_are_not_kept(server: Server, cache: Path) -> None:
    server.chunked = True

    with pytest.raises(SourceError, match="cannot be fetched: IncompleteRead"):
        fetch(declared(f"{server.url}/a", sha256=None), "toy")

    assert cached(cache) == []


def test_an_address_that_is_none_is_an_error() -> None:
    with pytest.raises(SourceError, match="cannot be fetched"):
        fetch(declared("http://127.0.0.1/a b"), "toy")


def test_without_a_url_the_file_must_be_named() -> None:
    with pytest.raises(SourceError, match="no URL is declared; name your copy with --from"):
        fetch(declared(None), "toy")


def test_a_cache_that_cannot_be_written_is_an_error_that_names_the_variable(
    server: Server, cache: Path
) -> None:
    cache.write_text("a file where the cache should be", encoding="utf-8")

    with pytest.raises(SourceError, match=r"the download cache cannot be used: .*set NND_CACHE"):
        fetch(declared(f"{server.url}/a"), "toy")


def test_a_converter_gets_what_was_fetched(
    server: Server,
    make_source: Callable[..., Path],
    cache: Path,
) -> None:
    folder = make_source()
    server.body = (folder / "toy.jsonl").read_bytes()
    (folder / "toy.jsonl").unlink()
    file: dict[str, Any] = {"name": "toy.jsonl", "url": f"{server.url}/toy", "bytes": None}
    sha256 = hashlib.sha256(server.body).hexdigest()
    source = make_source(folder="remote", files=[file | {"sha256": sha256}])
    (source / "toy.jsonl").unlink()

    manifest = convert(source).manifest

    assert manifest["files"][0]["verified"] is True
    assert cached(cache) == ["toy/toy.jsonl"]


def test_nothing_is_fetched_where_from_is_given(
    server: Server, make_source: Callable[..., Path], tmp_path: Path
) -> None:
    file = {"name": "toy.jsonl", "url": f"{server.url}/toy", "bytes": None, "sha256": "0" * 64}
    source = make_source(files=[file])

    convert(source, origin=source / "toy.jsonl")
    with pytest.raises(SourceError):
        convert(source, origin=tmp_path / "nowhere")

    assert server.asked == []


def test_the_cache_is_in_the_home_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NND_CACHE")
    monkeypatch.setenv("HOME", "/home/someone")

    assert cache_folder() == Path("/home/someone/.cache/nnd")
