"""Publishing in bad weather: faults at random, and the publishing process killed.

Whatever happens, the repository is as before or complete; an error is one line; and once the
weather is fair, the same call ends it, without a commit too many.
"""

import itertools
import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.hub.faults import WHERE, Fault, Faults
from support.hub.publishing import Client, client
from support.hub.server import Hub

from nnd.converters.folder.conversion import convert
from nnd.converters.hub.release_folder import check_release, read_release, write_release

FULL = bool(os.environ.get("NND_TEST_FULL"))
STORMS = 200 if FULL else 8
DEADLY = 4 if FULL else 5
"""Every how many storms the process is killed."""

# Storage that damages what it took is not a state that anybody could mend by trying again
# (`test_what_the_hub_holds_is_read_back` has it).
KINDS = [kind for kind in WHERE if kind != "corrupt"]

DEATHS = ("repos/create", "preupload", "PUT /lfs/", "/verify", "/commit/", "/resolve/", "/tag/")
"""Requests at which the process is killed: the Hub still carries them out."""


seen: Counter[object] = Counter()
"""Faults that struck, and how publishing ended."""


class Clients:
    """A client that is started again after it was killed."""

    def __init__(self, endpoint: str, home: Path) -> None:
        self._endpoint, self._homes = endpoint, (home / str(n) for n in itertools.count())
        self._open = ExitStack()
        self._client: Client | None = None

    def now(self) -> Client:
        if self._client is None or self._client.process.poll() is not None:
            self._open.close()  # looks for secrets in what the last one left
            self._client = self._open.enter_context(client(self._endpoint, next(self._homes)))
        return self._client

    def kill(self) -> None:
        """Kill it as `kill -9` does, in the middle of whatever it does."""
        self.now().process.kill()

    def close(self) -> None:
        self._open.close()


@pytest.fixture(scope="module")
def clients(served: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    made = Clients(served.endpoint, tmp_path_factory.mktemp("homes"))
    yield made
    served.faults = Faults()
    made.close()


@pytest.fixture
def folders(
    make_source: Callable[..., Path], toy: Callable[..., dict[str, Any]], tmp_path: Path
) -> tuple[Path, Path]:
    """An old and a new folder: rows of one split differ, another split goes, a third one comes."""
    facts: dict[str, Any] = {
        "expected": None,
        "citation": "@misc{toy, title={Toys}, year={2020}}",
    }
    made = []
    for number, splits in enumerate([("test", "old"), ("test", "new")]):
        rows = [
            toy(f"{split}-{system}", system, label, split=split, candidate=f"{system} {number}")
            for split in splits
            for system, label in (("heron", "good"), ("wren", "wrong"), ("plover", "rude"))
        ]
        source = make_source(rows, folder=f"source{number}", declared=True, **facts)
        convert(source, out=tmp_path / f"out{number}")
        made.append(tmp_path / f"out{number}")
    return made[0], made[1]


def release(folder: Path, repo_id: str, place: Path) -> dict[str, bytes]:
    """What the Hub shall hold of a folder."""
    place.mkdir()
    files = write_release(check_release(read_release(folder))[0], place, repo_id)
    return {path: file.read_bytes() for path, file in files.items()}


def held(hub: Hub, name: str, revision: str = "main") -> dict[str, bytes] | None:
    """What the Hub holds, but for what it put there itself."""
    if not hub.exists("datasets", name):
        return None
    return {k: v for k, v in hub.files("datasets", name, revision).items() if k != ".gitattributes"}


ON_COMMIT: tuple[Fault | None, ...] = (None, "lost-answer", 409, 412, "half-upload", 503)
"""What strikes the request that matters most, in turn."""


def weather(seed: int, clients: Clients) -> Faults:
    chance = random.Random(f"storm {seed}")
    faults = Faults(
        seed=chance.randrange(2**32), rate=chance.choice([0.05, 0.15, 0.4]), kinds=KINDS
    )
    faults.delay = 0.001
    if fault := ON_COMMIT[seed % len(ON_COMMIT)]:
        faults.script("POST .*/commit/", fault)
    if seed % DEADLY == 0:
        faults.script(chance.choice(DEATHS), clients.kill)
    return faults


@pytest.mark.parametrize("seed", range(STORMS))
def test_a_storm(
    hub: Hub, clients: Clients, folders: tuple[Path, Path], tmp_path: Path, *, seed: int
) -> None:
    name, has_old = f"org/storm{seed}", seed % 3 > 0
    options: dict[str, Any] = {"tag": "v1"} if seed % 2 else {}
    olds = release(folders[0], name, tmp_path / "old")
    new = release(folders[1], name, tmp_path / "new")
    hub.faults = Faults()
    if has_old:
        assert "error" not in clients.now().ask("publish", folder=folders[0], repo_id=name)
    before = held(hub, name)
    assert before == (olds if has_old else None)

    publisher = clients.now()  # started, if it has to be, in fair weather
    hub.faults = weather(seed, clients)
    publisher.send("publish", folder=folders[1], repo_id=name, **options)
    line = publisher.stdout.readline()
    publisher.said.append(line)
    struck, hub.faults = list(hub.faults.struck), Faults()
    if not line:
        assert publisher.process.wait() == -signal.SIGKILL
    seen.update("death" if callable(fault) else fault for _, fault in struck)
    seen["published" if '"commit"' in line else "refused" if line else "killed"] += 1

    found = held(hub, name)
    assert found in (before, new) or (before is None and found == {})
    assert found == new or '"commit"' not in line  # what is said to be published is
    for commit in hub.commits("datasets", name) if hub.exists("datasets", name) else ():
        files = {path: blob.data for path, blob in commit.files.items()}
        files.pop(".gitattributes")
        assert files in ({}, olds, new)  # at no moment anything else

    done = clients.now().ask("publish", folder=folders[1], repo_id=name, **options)

    assert "error" not in done, (done, struck)
    assert held(hub, name, done["commit"]) == held(hub, name) == new
    titles = [commit.title for commit in hub.commits("datasets", name)]
    # The Hub's own, the old one, the new one.
    assert len(titles) == 2 + has_old, (titles, struck)
    if options:
        assert held(hub, name, "v1") == new


def test_the_storms_were_storms() -> None:
    """Or all of the above might have been fair weather."""
    assert seen.keys() >= {*KINDS, "death", "killed", "published", "refused"}, seen
