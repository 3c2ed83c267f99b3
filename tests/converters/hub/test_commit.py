"""Files into a repository: in one commit or in none, whatever happens on the way."""

import hashlib
import random
from pathlib import Path

import pytest
from support.hub.faults import Fault
from support.hub.publishing import Client, client
from support.hub.server import Hub

from nnd.converters.hub import hub_calls
from nnd.converters.hub.repository_state import Repository, digest
from nnd.schemas import PublishError

README = b"---\nlicense: mit\n---\n# A card\n"
DATA = b"PAR1" + bytes(range(256)) * 40


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A repository of the test's own."""
    digits = hashlib.sha256(request.node.name.encode()).hexdigest()[:12]
    return f"org/r{digits}"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A small file and one that goes to LFS."""
    (tmp_path / "card").write_bytes(README)
    (tmp_path / "data").write_bytes(DATA)
    return {"README.md": tmp_path / "card", "pairs/test.parquet": tmp_path / "data"}


def titles(hub: Hub, name: str) -> list[str]:
    """Titles of all commits on main, oldest first."""
    return [commit.title for commit in hub.commits("datasets", name)][::-1]


def test_only_what_differs_is_sent_and_what_is_foreign_stays(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    seeded = {"README.md": b"old", "pairs/test.parquet": DATA, "old.json": b"{}", "photo.png": b"p"}
    hub.commit("datasets", name, seeded)

    pushed = publisher.ask("push", name=name, files=files, gone=["old.json", "never-there"])

    assert pushed["changes"] == {
        "README.md": "changed",
        "pairs/test.parquet": "same",
        "old.json": "deleted",
    }
    assert hub.files("datasets", name) == {
        "README.md": README,
        "pairs/test.parquet": DATA,
        "photo.png": b"p",
    }
    assert not any(line.startswith("PUT ") and name in line for line in hub.requests)


@pytest.mark.parametrize(
    ("where", "fault"),
    [
        ("POST .*/repos/create", 500),
        ("POST .*/repos/create", "lost-answer"),
        ("GET .*/tree/", 503),
        ("GET .*/tree/", "drop"),
        ("POST .*/preupload/", 429),
        ("POST .*/validate-yaml", 500),
        ("POST .*/objects/batch", 500),
        ("PUT /lfs/", "half-upload"),
        ("PUT /lfs/", "lost-answer"),
        ("POST .*/verify", 503),
        ("POST .*/commit/", 409),
        ("POST .*/commit/", 412),
        ("POST .*/commit/", 429),
        ("POST .*/commit/", 500),
        ("POST .*/commit/", "drop"),
        ("POST .*/commit/", "half-upload"),
        ("POST .*/commit/", "lost-answer"),
        ("GET .*/resolve/", "truncate"),
        ("GET .*/resolve/", 502),
    ],
)
def test_what_passes_is_waited_for(
    hub: Hub, publisher: Client, files: dict[str, Path], where: str, fault: Fault
) -> None:
    name = "org/" + hashlib.sha256(f"{where} {fault}".encode()).hexdigest()[:12]
    hub.faults.script(where, fault, times=2)

    pushed = publisher.ask("push", name=name, files=files)

    assert hub.faults.struck  # what is tested has happened
    assert pushed["sent"]
    assert pushed["commit"] == hub.commits("datasets", name)[0].id
    assert titles(hub, name) == ["initial commit", "ours"]
    assert hub.files("datasets", name)["pairs/test.parquet"] == DATA


def test_a_rivals_commit_in_between_is_not_undone(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    hub.commit("datasets", name, {"README.md": b"old"}, title="first")
    rival = {"photo.png": b"p", "README.md": b"rival"}
    hub.faults.script(
        "POST .*/commit/", lambda: hub.commit("datasets", name, rival, title="rival's")
    )

    publisher.ask("push", name=name, files=files)

    assert titles(hub, name) == ["first", "rival's", "ours"]
    # The first was refused: it was made for what there was before the rival came.
    assert sum("/commit/" in line and name in line for line in hub.requests) == 2
    assert hub.files("datasets", name) == {
        "README.md": README,
        "photo.png": b"p",
        "pairs/test.parquet": DATA,
    }


def test_a_rival_who_publishes_the_same_leaves_nothing_to_do(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    hub.commit("datasets", name, {"README.md": b"old"}, title="first")
    same = {"README.md": README, "pairs/test.parquet": DATA}
    hub.faults.script(
        "POST .*/commit/", lambda: hub.commit("datasets", name, same, title="rival's")
    )

    pushed = publisher.ask("push", name=name, files=files)

    assert titles(hub, name) == ["first", "rival's"]
    assert pushed["commit"] == hub.commits("datasets", name)[0].id


def test_a_hub_that_stays_busy_is_given_up(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    hub.faults.script("POST .*/commit/", 503, times=100)

    error = publisher.refused(("hub.run-again", name), "push", name=name, files=files)

    assert "(503: Service Unavailable)" in error.what
    assert len(hub.faults.struck) == 12  # the tries of publisher.py
    assert titles(hub, name) == ["initial commit"]


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "hub.no-token"), (402, "hub.refused"), (403, "hub.no-token"), (400, "hub.refused")],
)
def test_a_refusal_is_told_at_once(
    hub: Hub, publisher: Client, files: dict[str, Path], status: int, code: str
) -> None:
    name = f"org/refused-{status}"
    hub.commit("datasets", name, {"README.md": b"old"}, title="first")
    hub.faults.script("POST .*/commit/", status)

    error = publisher.refused((code, name), "push", name=name, files=files)

    assert f"({status}" in error.what
    assert titles(hub, name) == ["first"]


def test_metadata_that_the_hub_refuses_is_told(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    files["README.md"].write_text("---\nlicense: [1]\n---\n")

    error = publisher.refused(("hub.refused", name), "push", name=name, files=files)

    assert '"license" must be a string' in error.what
    assert titles(hub, name) == ["initial commit"]


def test_what_the_hub_holds_is_read_back(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    # Damaged in the Hub's storage: its list of files says what was sent, the file says otherwise.
    hub.faults.script("PUT /lfs/", "corrupt")

    error = publisher.refused(("hub.run-again", name), "push", name=name, files=files)

    assert hub.commits("datasets", name)[0].id in error.what
    assert "pairs/test.parquet" in error.what


def test_a_pull_request_leaves_main_alone_and_is_opened_once(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    hub.commit("datasets", name, {"README.md": b"old", "old.json": b"{}"}, title="first")

    opened = publisher.ask("push", name=name, files=files, gone=["old.json"], pull_request=True)
    again = publisher.ask("push", name=name, files=files, gone=["old.json"], pull_request=True)

    assert titles(hub, name) == ["first"]
    assert hub.files("datasets", name, "refs/pr/1") == {
        "README.md": README,
        "pairs/test.parquet": DATA,
    }
    assert opened["pull_request"] == f"{hub.endpoint}/datasets/{name}/discussions/1"
    assert again == opened | {"sent": False}


def test_a_pull_request_whose_answer_got_lost_is_found(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    hub.commit("datasets", name, {"README.md": b"old"}, title="first")
    hub.faults.script("POST .*/commit/", "lost-answer")

    opened = publisher.ask("push", name=name, files=files, pull_request=True)

    assert opened["pull_request"].endswith("/discussions/1")
    assert {ref for ref in hub.refs("datasets", name) if "pr" in ref} == {"refs/pr/1"}


def test_other_content_opens_another_pull_request(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    hub.commit("datasets", name, {"README.md": b"old"}, title="first")
    publisher.ask("push", name=name, files=files, pull_request=True)
    files["README.md"].write_text("---\nlicense: mit\n---\n# Another card\n")

    opened = publisher.ask("push", name=name, files=files, pull_request=True)

    assert opened["pull_request"].endswith("/discussions/2")


def test_a_tag_names_the_commit_and_can_be_asked_for_again(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    commit = publisher.ask("push", name=name, files=files)["commit"]
    hub.faults.script("POST .*/tag/", "lost-answer")

    for _ in range(2):
        assert publisher.ask("put_tag", name=name, files=files, tag="v1", commit=commit) == {}

    assert hub.refs("datasets", name)["refs/tags/v1"] == commit


def test_a_tag_of_the_same_files_stays_where_it_is(
    hub: Hub, publisher: Client, name: str, files: dict[str, Path]
) -> None:
    first = publisher.ask("push", name=name, files=files)["commit"]
    publisher.ask("put_tag", name=name, files=files, tag="v1", commit=first)
    second = hub.commit("datasets", name, {"photo.png": b"p"})

    assert publisher.ask("put_tag", name=name, files=files, tag="v1", commit=second) == {}
    assert hub.refs("datasets", name)["refs/tags/v1"] == first


@pytest.mark.parametrize("known", [True, False])
def test_a_tag_of_other_files_is_taken(
    publisher: Client, name: str, files: dict[str, Path], *, known: bool
) -> None:
    first = publisher.ask("push", name=name, files=files)["commit"]
    publisher.ask("put_tag", name=name, files=files, tag="v1", commit=first)
    files["README.md"].write_text("---\nlicense: mit\n---\n# Another card\n")
    commit = "0" * 40 if known else None  # None: asked before anything is sent

    asked = {"name": name, "files": files, "tag": "v1", "commit": commit}
    error = publisher.refused(("hub.tag", name), "put_tag", **asked)

    assert first in error.what


@pytest.mark.parametrize("name", ["quiz", "a/b/c", "org/-x", "org/" + "x" * 120, "org/a b"])
def test_a_name_that_is_none_is_refused(
    publisher: Client, files: dict[str, Path], name: str
) -> None:
    publisher.refused(("hub.name", name), "push", name=name, files=files)


@pytest.mark.parametrize(
    "token",
    [
        "hf_wrongwrongwrongwrong",
        # The client quotes these in errors of its own.
        "hf_wrong\x7fwrong\x01wrong",
        "hf_wröngwröngwröngwröng",
    ],
)
def test_a_wrong_token_is_told_and_not_shown(
    hub: Hub, tmp_path: Path, files: dict[str, Path], token: str
) -> None:
    with client(hub.endpoint, tmp_path / "home", token=token) as wrong:
        error = wrong.refused(("hub.no-token", "org/x"), "push", name="org/x", files=files)
    assert "wrong" not in str(error)
    assert "wr\\xf6ng" not in str(error)


def test_offline_is_told(hub: Hub, tmp_path: Path, files: dict[str, Path]) -> None:
    with client(hub.endpoint, tmp_path / "home", HF_HUB_OFFLINE="1") as offline:
        offline.refused(("hub.offline", "org/x"), "push", name="org/x", files=files)


def test_no_network_is_told_at_once(tmp_path: Path, files: dict[str, Path]) -> None:
    with Hub() as gone:
        endpoint = gone.endpoint
    with client(endpoint, tmp_path / "home") as alone:
        error = alone.refused(("hub.unreachable", "org/x"), "push", name="org/x", files=files)
    assert endpoint in error.what


def test_ids_are_those_of_git(tmp_path: Path) -> None:
    # `printf 'hello\n' | git hash-object --stdin`, and `sha256sum` of the same.
    (tmp_path / "a").write_bytes(b"hello\n")
    assert digest(tmp_path / "a") == (
        6,
        "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
        "ce013625030ba8dba906f756967f9e9ca394464a",
    )


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(hub_calls, "time", clock)
    monkeypatch.setattr(random, "random", lambda: 0.5)
    return clock


def tried(monkeypatch: pytest.MonkeyPatch, wanted: float | None, **options: float) -> int:
    """Return how often a call that never works is tried."""
    monkeypatch.setattr(hub_calls, "wanted_pause", lambda _: wanted)
    for name, value in options.items():
        monkeypatch.setattr(hub_calls, name, value)
    calls = []

    def fail() -> None:
        calls.append(1)
        raise OSError

    with pytest.raises(PublishError):
        hub_calls.ask(Repository("dataset", "org/x"), fail)
    return len(calls)


def test_pauses_double_up_to_the_longest(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, 0, TRIES=6, LONGEST_S=5) == 6
    assert clock.pauses == [1, 2, 4, 5, 5]  # chance 0.5 makes them 0.5 + 0.5 times as long


def test_the_hub_is_given_the_time_it_asks_for(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tried(monkeypatch, 60, TRIES=3) == 3
    assert clock.pauses == [60, 60]


def test_waiting_ends_in_time(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    # 30 s each: after the third pause 90 s have passed, and another would end after 100 s.
    assert tried(monkeypatch, 30, TRIES=50, TOTAL_S=100) == 4
    assert clock.now == 90


@pytest.mark.usefixtures("clock")
def test_what_does_not_pass_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, None) == 1
