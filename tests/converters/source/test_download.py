"""Fetching declared files, from a real HTTP server on the loopback."""

import contextlib
import hashlib
import http.server
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from support.refusals import refusal

from nnd.converters.folder.conversion import convert
from nnd.converters.source import download, resume
from nnd.converters.source.download import fetch, find_cached
from nnd.converters.source.source import SourceFile, load_source
from nnd.converters.source.source_files import Files
from nnd.schemas import cache_folder, nnd_version

BODY = b'{"some": "annotations"}\n'
DIGEST = hashlib.sha256(BODY).hexdigest()

FETCH = """
import sys
from nnd.converters.source import resume
from nnd.converters.source.download import fetch
from nnd.converters.source.source import SourceFile

print("ready", flush=True)
print(fetch(SourceFile("a.jsonl", *sys.argv[1:], None), "toy", pause_s=0))
"""


@dataclass
class Server:
    """A server that answers every path with one body, unless told to fail.

    Attributes:
        url: Where it listens, without a slash at the end.
        body: What it sends.
        announced: Content-Length, or None for the true one.
        chunked: Whether to send half of the body as a chunk and hang up.
        unannounced: Whether to send no Content-Length at all.
        redirects: Where the next requests are sent on to.
        headers: Sent with every body.
        ranges: How it takes a Range: "yes", "no" (never heard of it), "other bytes" (sends others
            than it was asked for), "unnamed" (does not say which it sends).
        statuses: Answers to the next requests, 200 where none is left.
        cuts: After how many bytes of the next bodies it hangs up; never where none is left.
        drip_s: Seconds after each byte of a body; None sends it at once.
        go_on: While it is clear, a connection that is to be cut stays open, and silent.
        asked: Paths asked for so far.
        heard: Headers of these requests.
        sent: Bytes of a body sent to each of them.
    """

    url: str
    body: bytes = BODY
    announced: int | None = None
    chunked: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    unannounced: bool = False
    redirects: list[str] = field(default_factory=list)
    ranges: str = "yes"
    statuses: list[int] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    drip_s: float | None = None
    go_on: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)
    heard: list[dict[str, str]] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)

    def asked_range(self) -> list[str | None]:
        return [headers.get("Range") for headers in self.heard]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: ClassVar[Server]

    def do_GET(self) -> None:
        state = self.state
        self.close_connection = True
        state.asked.append(self.path)
        state.heard.append(dict(self.headers.items()))
        if state.redirects:
            self.send_response(302)
            self.send_header("Location", state.redirects.pop(0))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        status = state.statuses.pop(0) if state.statuses else 200
        if status != 200:
            self.send_response(status)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif state.chunked:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"ff\r\n" + state.body)
        else:
            self.send_body()

    def send_body(self) -> None:
        state = self.state
        start = self.first_byte()
        if start:
            self.send_response(206)
            if state.ranges != "unnamed":
                first = start + (state.ranges == "other bytes")
                end = len(state.body)
                self.send_header("Content-Range", f"bytes {first}-{end - 1}/{end}")
        else:
            self.send_response(200)
        for name, value in state.headers.items():
            self.send_header(name, value)
        body = state.body[start:]
        if not state.unannounced:
            self.send_header("Content-Length", str(state.announced or len(body)))
        self.end_headers()
        cut = state.cuts.pop(0) if state.cuts else None
        state.sent.append(len(body[:cut]))
        with contextlib.suppress(OSError):  # it need not take all of it
            for n in range(len(body[:cut])) if state.drip_s is not None else ():
                self.wfile.write(body[n : n + 1])
                time.sleep(state.drip_s or 0)
            if state.drip_s is None:
                self.wfile.write(body[:cut])
        if cut is not None:
            state.go_on.wait(10)

    def first_byte(self) -> int:
        asked = self.headers.get("Range")
        if asked is None or self.state.ranges == "no":
            return 0
        return int(asked.removeprefix("bytes=").removesuffix("-"))

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        Handler.state = Server(f"http://127.0.0.1:{listening.server_port}")
        Handler.state.go_on.set()
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield Handler.state
        Handler.state.go_on.set()
        listening.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def declared(
    url: str | None, sha256: str | None = DIGEST, size: int | None = len(BODY)
) -> SourceFile:
    return SourceFile("a.jsonl", url, sha256, size)


def cached(cache: Path) -> list[str]:
    paths = (path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock")
    return sorted(str(path.relative_to(cache)) for path in paths)


def get(server: Server, sha256: str | None = DIGEST, size: int | None = len(BODY)) -> Path:
    """Fetch /a without waiting between tries."""
    return fetch(declared(f"{server.url}/a", sha256, size), "toy", pause_s=0)


def test_a_file_is_fetched_once_into_the_cache(
    server: Server, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = declared(f"{server.url}/a")

    assert fetch(file, "toy") == fetch(file, "toy") == cache / "toy/a.jsonl"

    assert (cache / "toy/a.jsonl").read_bytes() == BODY
    assert cached(cache) == ["toy/a.jsonl"]
    assert server.asked == ["/a"]
    # Who asks is said, and there is no progress without a terminal.
    assert server.heard[0]["User-Agent"] == f"nnd/{nnd_version()}"
    assert server.heard[0]["Accept-Encoding"] == "identity"
    assert capfd.readouterr() == ("", "")


def test_a_name_with_folders_is_fetched_into_them(server: Server, cache: Path) -> None:
    file = SourceFile("bt5/a.jsonl", f"{server.url}/a", DIGEST, len(BODY))

    assert fetch(file, "toy").read_bytes() == BODY
    assert cached(cache) == ["toy/bt5/a.jsonl"]


def test_a_damaged_file_in_the_cache_is_fetched_again(server: Server, cache: Path) -> None:
    (cache / "toy").mkdir(parents=True)
    (cache / "toy/a.jsonl").write_bytes(BODY[:5])

    assert fetch(declared(f"{server.url}/a"), "toy").read_bytes() == BODY


ENDLESS = b"x" * 2**20
ANY: dict[str, Any] = {"sha256": None, "size": None}


@pytest.mark.parametrize(
    ("does", "asked", "code", "tries"),
    [
        ({"body": b"<html>Sign in</html>"}, {}, "source.another-file", 1),
        ({"body": BODY[:-1]}, {"sha256": None}, "source.another-file", 1),
        # 24 bytes of 100 arrive: only the announced length can tell.
        ({"announced": 100}, ANY, "source.cannot-fetch", 3),
        ({"chunked": True}, {"sha256": None}, "source.cannot-fetch", 3),
        ({"statuses": [500] * 9}, {}, "source.cannot-fetch", 3),
        ({"statuses": [403]}, {}, "source.cannot-fetch", 1),
        ({"statuses": [404]}, {}, "source.cannot-fetch", 1),
        ({"body": ENDLESS}, {}, "source.cannot-fetch", 1),
        ({"body": ENDLESS}, {"sha256": None}, "source.cannot-fetch", 1),
        ({"body": ENDLESS, "unannounced": True}, {}, "source.cannot-fetch", 1),
    ],
    ids=lambda value: "-".join(value)[:40] if isinstance(value, dict) else None,
)
def test_what_is_not_the_whole_declared_file_is_not_kept(
    *,
    does: dict[str, Any],
    asked: dict[str, Any],
    code: str,
    tries: int,
    server: Server,
    cache: Path,
) -> None:
    for name, value in does.items():
        setattr(server, name, value)

    with refusal(code):
        get(server, **asked)

    assert server.asked_range() == [None] * tries
    assert cached(cache) == []


def test_a_failed_fetch_leaves_the_cached_file_as_it_was(server: Server, cache: Path) -> None:
    old = declared(f"{server.url}/a")
    fetch(old, "toy")
    newer = declared(f"{server.url}/a", sha256="0" * 64)

    with refusal("source.another-file"):
        fetch(newer, "toy")

    assert (cache / "toy/a.jsonl").read_bytes() == BODY


def test_a_refused_connection_is_an_error_with_the_way_out(cache: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and never listens
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a"

        with refusal("source.cannot-fetch"):
            fetch(declared(url), "toy", pause_s=0)

    assert cached(cache) == []


def test_what_is_missing_is_asked_for_and_no_more(server: Server, cache: Path) -> None:
    server.cuts = [10, 5]

    path = get(server)

    # 24 bytes: 10, then 5 of the other 14, then the last 9.
    assert path.read_bytes() == BODY
    assert server.asked_range() == [None, "bytes=10-", "bytes=15-"]
    assert server.sent == [10, 5, 9]
    assert cached(cache) == ["toy/a.jsonl"]


def test_without_a_digest_all_is_asked_for_again(server: Server) -> None:
    server.cuts = [10]

    assert get(server, sha256=None).read_bytes() == BODY
    assert server.asked_range() == [None, None]


def test_a_later_call_goes_on_where_the_last_one_stopped(server: Server, cache: Path) -> None:
    server.cuts = [3, 3, 3]
    with refusal("source.cannot-fetch"):
        get(server)
    part = cache / "toy/a.jsonl.part"
    assert part.read_bytes() == BODY[:9]
    assert cached(cache) == ["toy/a.jsonl.part"]

    assert get(server).read_bytes() == BODY

    assert server.asked_range()[3:] == ["bytes=9-"]
    assert server.sent == [3, 3, 3, 15]
    assert cached(cache) == ["toy/a.jsonl"]


def interrupt(server: Server, cache: Path, sha256: str = DIGEST) -> None:
    """Leave a part of 10 bytes in the cache, and forget the requests."""
    server.cuts = [10]
    server.statuses = [200, 404]
    with refusal("source.cannot-fetch"):
        get(server, sha256)
    assert (cache / "toy/a.jsonl.part").read_bytes() == BODY[:10]
    for record in (server.asked, server.heard, server.sent):
        record.clear()


@pytest.mark.parametrize(
    ("does", "asked", "sent"),
    [
        ({"ranges": "no"}, ["bytes=10-"], [24]),  # it sends no parts
        ({"statuses": [416]}, ["bytes=10-", None], [24]),
        # A part that does not fit.
        ({"ranges": "other bytes"}, ["bytes=10-", None], [14, 24]),
        ({"ranges": "unnamed"}, ["bytes=10-", None], [14, 24]),
        # The digest of 10 old bytes and the rest of the new ones is that of neither version.
        ({"body": BODY.upper()}, ["bytes=10-", None], [14, 24]),
    ],
)
def test_a_part_that_cannot_be_completed_is_fetched_whole(
    server: Server, cache: Path, does: dict[str, Any], asked: list[str | None], sent: list[int]
) -> None:
    interrupt(server, cache)
    for name, value in does.items():
        setattr(server, name, value)

    assert get(server, hashlib.sha256(server.body).hexdigest()).read_bytes() == server.body
    assert server.asked_range() == asked
    assert server.sent == sent


def test_a_completed_file_that_is_not_the_declared_one_is_removed(
    server: Server, cache: Path
) -> None:
    interrupt(server, cache)

    with refusal("source.another-file"):
        get(server, sha256="0" * 64)

    assert server.asked_range() == ["bytes=10-", None]  # the part may have been of another version
    assert cached(cache) == []


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_a_server_in_trouble_is_asked_three_times(server: Server, status: int) -> None:
    server.statuses = [status, status]

    assert get(server).read_bytes() == BODY
    assert len(server.asked) == 3


def test_the_second_pause_is_twice_the_first(server: Server) -> None:
    server.statuses = [500, 500]

    begin = time.monotonic()
    fetch(declared(f"{server.url}/a"), "toy", pause_s=0.05)

    assert time.monotonic() - begin >= 0.15  # 0.05 and 0.1


def start_fetching(server: Server, digest: str) -> subprocess.Popen[str]:
    """Fetch /a in a process of its own, which has done its imports."""
    command = [sys.executable, "-c", FETCH, f"{server.url}/a", digest]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def wait_for_bytes(path: Path, n: int) -> None:
    deadline = time.monotonic() + 120
    while not path.exists() or path.stat().st_size < n:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_after_a_kill_the_next_call_goes_on(server: Server, cache: Path) -> None:
    server.body = BODY * 100_000  # 2.4 MB, half of which arrives
    digest = hashlib.sha256(server.body).hexdigest()
    server.cuts = [1_200_000]
    server.go_on.clear()
    part = cache / "toy/a.jsonl.part"
    with start_fetching(server, digest) as process:
        wait_for_bytes(part, 1_000_000)
        process.kill()
    arrived = part.stat().st_size
    server.go_on.set()

    path = get(server, digest, size=2_400_000)

    assert path.read_bytes() == server.body
    assert server.asked_range() == [None, f"bytes={arrived}-"]
    assert server.sent == [1_200_000, 2_400_000 - arrived]
    assert cached(cache) == ["toy/a.jsonl"]


def test_of_two_processes_at_once_one_fetches(server: Server, cache: Path) -> None:
    server.cuts = [10]
    server.go_on.clear()
    with start_fetching(server, DIGEST) as first:
        wait_for_bytes(cache / "toy/a.jsonl.part", 0)
        with start_fetching(server, DIGEST) as second:
            time.sleep(0.2)  # long enough to ask, were it free to
            server.go_on.set()
            printed = [process.communicate(timeout=120)[0] for process in (first, second)]

    assert printed == [f"{cache}/toy/a.jsonl\n"] * 2
    assert server.sent == [10, 14]
    assert cached(cache) == ["toy/a.jsonl"]


def test_an_address_that_is_none_is_an_error() -> None:
    with refusal("source.cannot-fetch", "a b"):
        fetch(declared("http://127.0.0.1/a b"), "toy")


def test_without_a_url_the_file_must_be_named() -> None:
    with refusal("source.cannot-fetch", "a.jsonl"):
        fetch(declared(None), "toy")


def test_a_cache_that_cannot_be_written_is_an_error_that_names_the_variable(
    server: Server, cache: Path
) -> None:
    cache.write_text("a file where the cache should be", encoding="utf-8")

    with refusal("place.cannot-write", "a.jsonl"):
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

    convert(source, origin=source / "toy.jsonl", accept_changed="a test")
    with refusal("file.not-found"):
        convert(source, origin=tmp_path / "nowhere")

    assert server.asked == []


def test_asking_whether_a_file_is_there_does_not_fetch_it(
    server: Server, make_source: Callable[..., Path]
) -> None:
    file = {"name": "extra.txt", "url": f"{server.url}/a", "bytes": None, "sha256": DIGEST}
    files = Files(load_source(make_source(files=[file])))

    assert not files.has("extra.txt")
    assert server.asked == []
    assert files.opened == {}


def test_a_file_in_the_cache_is_there(server: Server, make_source: Callable[..., Path]) -> None:
    get(server)
    file = {"name": "a.jsonl", "url": f"{server.url}/a", "bytes": None, "sha256": DIGEST}
    files = Files(load_source(make_source(files=[file])))

    assert files.has("a.jsonl")
    assert files.opened == {}  # nobody has read it
    assert server.asked == ["/a"]


def test_a_damaged_file_in_the_cache_is_not_there(cache: Path) -> None:
    (cache / "toy").mkdir(parents=True)
    (cache / "toy/a.jsonl").write_bytes(BODY[:5])

    assert find_cached(declared(None), "toy") is None


def test_the_cache_is_in_the_home_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NND_CACHE")
    monkeypatch.setenv("HOME", "/home/someone")

    assert cache_folder() == Path("/home/someone/.cache/nnd")


def test_a_file_of_no_declared_size_has_a_ceiling(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume, "MOST_BYTES", 1000)
    server.body = ENDLESS

    with refusal("source.cannot-fetch"):
        get(server, sha256=None, size=None)

    assert cached(cache) == []


def redirected(server: Server, *targets: str) -> Path:
    """Fetch /a, from where the server redirects to each of the targets in turn."""
    server.redirects = list(targets)
    return get(server)


def test_redirects_are_followed(server: Server) -> None:
    assert redirected(server, "/b", f"{server.url}/c").read_bytes() == BODY
    assert server.asked == ["/a", "/b", "/c"]


@pytest.mark.parametrize(
    "target",
    [
        "ftp://example.org/a",
        "file:///etc/passwd",
        "data:,a",
    ],
)
def test_no_redirect_leaves_http(server: Server, target: str) -> None:
    with refusal("source.cannot-fetch"):
        redirected(server, target)

    assert server.asked == ["/a"]


@pytest.mark.parametrize(
    ("hops", "refused"),
    [
        (["https://example.org/a", "https://cdn.example.com/a"], None),
        (["http://example.org/a", "https://example.org/a"], None),
        (["http://example.org/a", "http://cdn.example.com/a"], None),
        (["https://example.org/a", "http://example.org/a"], "http://example.org/a"),
        (["https://a.org/a", "http://b.org/a", "https://a.org/b"], "http://b.org/a"),
    ],
)
def test_https_never_becomes_http(hops: list[str], refused: str | None) -> None:
    *history, answer = (httpx.Response(200, request=httpx.Request("GET", url)) for url in hops)
    answer.history = history
    if refused is None:
        assert resume._first_byte(answer, hops[0], 0) == 0
        return

    with pytest.raises(resume.FetchError, match=f"it redirects to {refused}, which is not https"):
        resume._first_byte(answer, hops[0], 0)


def test_a_proxy_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url)

    path = fetch(declared("http://data.example/a"), "toy", pause_s=0)

    assert path.read_bytes() == BODY
    assert server.asked == ["http://data.example/a"]


def test_a_server_that_sends_next_to_nothing_is_given_up(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume, "_WINDOW_S", 0.2)
    server.drip_s = 0.02  # 3,000 bytes a minute
    start = time.monotonic()
    with refusal("source.cannot-fetch", server.url) as caught:
        get(server)
    assert time.monotonic() - start < 2
    assert "the least is 60,000" in caught.value.what
    assert "NND_SLOWEST_DOWNLOAD=0" in caught.value.remedy
    assert len(server.asked) == 1
    # What arrived is kept for the next try, which is as slow, and now is waited for.
    arrived = (cache / "toy/a.jsonl.part").stat().st_size
    assert 0 < arrived < len(BODY)
    server.drip_s = 0.0001
    monkeypatch.setenv("NND_SLOWEST_DOWNLOAD", "0")
    assert get(server).read_bytes() == BODY
    assert server.asked_range() == [None, f"bytes={arrived}-"]


@pytest.mark.parametrize("text", ["fast", "-1", "1e5", "1_000", "\u0661"])
def test_a_limit_that_is_no_number_is_refused(
    text: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NND_SLOWEST_DOWNLOAD", text)
    with refusal("source.cannot-fetch", server.url) as caught:
        get(server)
    assert "NND_SLOWEST_DOWNLOAD" in caught.value.what


@pytest.mark.parametrize("name", ["a.jsonl.part", ".a.jsonl.lock"])
def test_nothing_is_written_through_a_link(
    name: str, server: Server, cache: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"years of work")
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / name).symlink_to(victim)
    with refusal("place.foreign-files", name):
        get(server)
    assert victim.read_bytes() == b"years of work"
    assert (cache / "toy" / name).is_symlink()


def test_a_link_that_comes_while_a_file_is_fetched_is_not_followed(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"years of work")
    monkeypatch.setattr(download, "_check_no_links", lambda *_: None)
    (cache / "toy").mkdir(parents=True)
    (cache / "toy/a.jsonl.part").symlink_to(victim)
    with refusal("place.cannot-write"):
        get(server, sha256=None)
    assert victim.read_bytes() == b"years of work"


def test_the_cached_file_may_be_a_link_of_its_owner(
    server: Server, cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").write_bytes(BODY)
    (cache / "toy").mkdir(parents=True)
    (cache / "toy/a.jsonl").symlink_to(tmp_path / "elsewhere")
    assert get(server).read_bytes() == BODY
    assert server.asked == []
    (tmp_path / "elsewhere").write_bytes(b"another")
    assert get(server).read_bytes() == BODY  # in the place of the link
    assert (tmp_path / "elsewhere").read_bytes() == b"another"
