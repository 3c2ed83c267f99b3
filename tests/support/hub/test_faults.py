"""Each fault does what it says, as the real client sees it."""

import socket
import threading
import time
from collections import Counter
from http.client import HTTPConnection
from typing import Any

import pytest
from support.hub.asking import Ask, ClientError, commit, commit_by_hand, refused
from support.hub.faults import WHERE, Fault, Faults
from support.hub.repository import Commit, Repository
from support.hub.server import Hub

COMMIT = "POST .*/commit/"
GONE = ("RemoteProtocolError", "ReadError", "WriteError")
LARGE = "x" * 2_000_000
"""More than a connection holds on its way, so that a half of it is noticed."""


def dataset(hub: Hub, fault: object) -> str:
    """A dataset of the test's own that holds `old.txt`."""
    name = "org/" + "".join(c for c in str(fault) if c.isalnum())
    hub.commit("datasets", name, {"old.txt": b"old"})
    return name


@pytest.mark.parametrize("fault", ["drop", "half-upload", 409, 412, 429, 500, 503, 402])
def test_a_commit_that_fails_changes_nothing(hub: Hub, ask: Ask, fault: Fault) -> None:
    name = dataset(hub, fault)
    before = hub.refs("datasets", name)
    hub.faults.script(COMMIT, fault)
    error = refused(ask, commit(name, {"new.txt": LARGE}))
    if isinstance(fault, int):
        assert (error.name, error.status) == ("HfHubHTTPError", fault)
    else:
        assert error.name in GONE
    assert hub.refs("datasets", name) == before
    ask(commit(name, {"new.txt": "new"}))
    assert hub.files("datasets", name)["new.txt"] == b"new"


def test_half_of_an_upload_arrives(hub: Hub, ask: Ask) -> None:
    name = dataset(hub, "half")
    hub.faults.script(COMMIT, "half-upload")
    refused(ask, commit(name, {"new.txt": LARGE}))
    cut = hub.received[-1]
    assert len(cut.body) == int(cut.headers["content-length"]) // 2 > 1_000_000


@pytest.mark.parametrize("length", ["Content-Length: 999", "Transfer-Encoding: chunked"])
def test_a_client_that_dies_on_the_way_commits_nothing(hub: Hub, length: str) -> None:
    before = hub.commit("datasets", "org/killed", {"old.txt": b"old"})
    whole = (
        b'{"key": "header", "value": {"summary": "half"}}\n'
        b'{"key": "deletedFile", "value": {"path": "old.txt"}}\n'
    )
    body = b"%x\r\n%b\r\n" % (len(whole), whole) if "chunked" in length else whole
    head = (
        "POST /api/datasets/org/killed/commit/main HTTP/1.1\r\n"
        f"Authorization: Bearer hf_loopback_mortal\r\n{length}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", hub.server_port)) as connection:
        connection.sendall(head.encode() + body)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    assert hub.refs("datasets", "org/killed") == {"refs/heads/main": before}


def test_an_answer_is_lost_but_the_commit_is_there(hub: Hub, ask: Ask) -> None:
    name = dataset(hub, "lost-answer")
    hub.faults.script(COMMIT, "lost-answer")
    assert refused(ask, commit(name, {"new.txt": "new"})).name in GONE
    assert hub.files("datasets", name) == {"old.txt": b"old", "new.txt": b"new"}


@pytest.mark.parametrize("fault", ["drop", "half-upload", "lost-answer", 500])
def test_an_upload_is_tried_again(hub: Hub, ask: Ask, fault: Fault) -> None:
    name = dataset(hub, f"upload {fault}")
    hub.faults.script("PUT /lfs/", fault, times=2)
    ask(commit(name, {"new.parquet": LARGE}))
    assert hub.files("datasets", name)["new.parquet"] == LARGE.encode()
    assert [struck for _, struck in hub.faults.struck] == [fault, fault]


def test_an_upload_is_given_up(hub: Hub, ask: Ask) -> None:
    name = dataset(hub, "given up")
    hub.faults.script("PUT /lfs/", 500, times=6)  # the client tries once and then five times more
    error = refused(ask, commit(name, {"new.parquet": LARGE}))
    assert (error.name, "new.parquet" in error.message) == ("RuntimeError", True)
    assert list(hub.files("datasets", name)) == ["old.txt"]


def test_a_429_says_how_long_to_wait(hub: Hub) -> None:
    hub.faults = Faults(retry_after=7)
    hub.faults.script("GET /api/datasets", 429)
    connection = HTTPConnection("127.0.0.1", hub.server_port)
    connection.request("GET", "/api/datasets")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Retry-After"]) == (429, "7")


def test_an_answer_is_late(hub: Hub, ask: Ask) -> None:
    name = dataset(hub, "slow")
    hub.faults = Faults(delay=0.3)
    hub.faults.script(COMMIT, "slow")
    start = time.monotonic()
    ask(commit(name, {"new.txt": "new"}))
    assert time.monotonic() - start >= 0.3


def test_a_download_that_breaks_off_is_tried_again(hub: Hub, ask: Ask) -> None:
    name = dataset(hub, "truncate")
    hub.commit("datasets", name, {"data.bin": bytes(range(256))})
    hub.faults.script("GET .*/resolve/", "truncate")
    assert ask(f"fetch({name!r}, 'data.bin')") == bytes(range(256)).hex()
    asked = [line.split()[0] for line in hub.requests if f"{name}/resolve" in line]
    assert asked == ["HEAD", "GET", "GET"]


def test_a_hash_is_wrong(hub: Hub, ask: Ask) -> None:
    name = dataset(hub, "wrong-hash")
    hub.commit("datasets", name, {"data.parquet": b"PAR1"})
    ids = f"[(p.blob_id, p.lfs and p.lfs.sha256) for p in api.get_paths_info({name!r}, {{!r}}, "
    large, small = (
        ids.format([path]) + "repo_type='dataset')][0]" for path in ("data.parquet", "old.txt")
    )
    right = ask(large), ask(small)
    hub.faults.script("paths-info", "wrong-hash", times=2)
    wrong = ask(large), ask(small)
    assert right[0][1] == "fbc62d3b511368ee275ddc74117d8689b430e1427220e25d30816201d89ca7b6"
    for before, after in zip(right, wrong, strict=True):
        assert after == [one and one[::-1] for one in before]
        assert after != before


def test_an_upload_is_damaged_in_the_storage(hub: Hub, ask: Ask) -> None:
    name = dataset(hub, "corrupt")
    hub.faults.script("PUT /lfs/", "corrupt")
    ask(commit(name, {"new.parquet": "PAR1"}))
    # The Hub says that it is the file that was sent, and hands out another: 1 is 0 with a bit more.
    stored = hub.repository("datasets", name).resolve("main").files["new.parquet"]
    assert stored.lfs_id == "fbc62d3b511368ee275ddc74117d8689b430e1427220e25d30816201d89ca7b6"
    assert ask(f"fetch({name!r}, 'new.parquet')") == b"PAR0".hex()


def test_an_upload_that_is_not_what_was_announced_is_refused(hub: Hub) -> None:
    hub.create("datasets", "org/liar").expected["0" * 64] = 4
    connection = HTTPConnection("127.0.0.1", hub.server_port)
    connection.request("PUT", f"/lfs/datasets/org/liar/{'0' * 64}", b"PAR1")
    assert connection.getresponse().status == 400
    assert not hub.repository("datasets", "org/liar").objects


def test_of_rivals_one_wins(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    add = Repository.add

    def late(*given: Any) -> Commit:
        time.sleep(0.05)  # long enough for a rival to come between the check and the commit
        return add(*given)

    monkeypatch.setattr(Repository, "add", late)
    parent = hub.create("datasets", "org/race").refs["refs/heads/main"]
    statuses = []

    def race(number: int) -> None:
        statuses.append(commit_by_hand(hub.server_port, "org/race", f"{number}", parent=parent))

    threads = [threading.Thread(target=race, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [412] * 7
    assert len(hub.commits("datasets", "org/race")) == 2


LINES = [
    "GET /api/datasets/org/a",
    "POST /api/datasets/org/a/preupload/main",
    "PUT /lfs/datasets/org/a/0",
    "POST /api/datasets/org/a/commit/main",
    "GET /api/datasets/org/a/tree/main?recursive=true",
    "GET /datasets/org/a/resolve/main/a.txt",
    "DELETE /api/datasets/org/a/tag/v1",
]


def storm(faults: Faults, lines: list[str]) -> Counter[tuple[str, object]]:
    for line in lines:
        faults.strike(line)
    return Counter(faults.struck)


def test_a_storm_is_the_same_in_any_order() -> None:
    lines = LINES * 50
    once = storm(Faults(seed=3, rate=0.3), lines)
    assert storm(Faults(seed=3, rate=0.3), lines[::-1]) == once
    assert storm(Faults(seed=4, rate=0.3), lines) != once
    # 350 requests at 0.3: 105 expected, with a standard deviation of 8.6.
    assert 75 < once.total() < 135


def test_a_storm_suits_the_requests() -> None:
    struck = storm(Faults(seed=1, rate=1), LINES * 60)
    kinds = {line: {fault for one, fault in struck if one == line} for line in LINES}
    always: set[object] = {"drop", "slow", 429, 500, 503}
    writes = always | {"half-upload", "lost-answer"}
    assert list(kinds.values()) == [
        always,
        writes,
        writes | {"corrupt"},
        writes | {409, 412},
        always | {"wrong-hash"},
        always | {"wrong-hash", "truncate"},
        always | {"lost-answer"},
    ]
    assert set.union(*kinds.values()) == set(WHERE)


def test_a_storm_ends() -> None:
    assert storm(Faults(rate=1, limit=5, kinds=[500]), LINES) == Counter(
        (line, 500) for line in LINES[:5]
    )


def test_commits_in_a_storm_happen_as_a_whole_or_not_at_all(hub: Hub, ask: Ask) -> None:
    name = dataset(hub, "storm")
    hub.faults = Faults(seed=7, rate=0.3, retry_after=0)
    state = hub.files("datasets", name)
    outcomes = set()
    for number in range(15):
        files = {"a.txt": f"{number}", "b.parquet": f"PAR{number}", "c.txt": f"{number}"}
        try:
            ask(commit(name, files))
            done = True
        except ClientError:
            done = False
        new = {**state, **{path: text.encode() for path, text in files.items()}}
        held = hub.files("datasets", name)
        damaged = {**new, "b.parquet": held.get("b.parquet", b"")}
        assert held in (new, damaged) or (held == state and not done)
        outcomes.add((done, held == state))
        state = held
    # It worked, it failed and nothing happened, it failed and it happened.
    assert outcomes == {(True, False), (False, True), (False, False)}
