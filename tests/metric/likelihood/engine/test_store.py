"""The store: nothing is lost by a kill, nothing false is believed, and no trouble ends a run."""

import fcntl
import hashlib
import json
import os
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.engine.store_processes import batch, entries, key, value
from support.places import SUPPORT

from nnd.metric.likelihood.engine import store as store_module
from nnd.metric.likelihood.engine.likelihood_cache import row_key
from nnd.metric.likelihood.engine.store import Store, default_store
from nnd.metric.text.encoding.requests import Encoded

FULL = bool(os.environ.get("NND_TEST_FULL"))
SCRIPT = SUPPORT / "engine" / "store_processes.py"
ALL = entries(range(2000))

Open = Callable[[], Store]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "likelihoods.sqlite"


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def opened(path: Path, warnings: list[str]) -> Iterator[Open]:
    """`opened()`: the store at `path`, opened once more; its warnings go to `warnings`."""
    stores: list[Store] = []

    def open_store() -> Store:
        stores.append(Store(path, warn=warnings.append))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


def make_store(path: Path) -> None:
    with Store(path, warn=pytest.fail) as store:
        store.put(ALL)


def asides(path: Path) -> list[str]:
    """Names of the stores set aside, without the logs of those that a process had open."""
    return sorted(found.name for found in path.parent.glob("*.corrupt-*[0-9]"))


def process(what: str, path: Path, number: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, SCRIPT, what, path, str(number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def let_go(processes: list[subprocess.Popen[str]]) -> None:
    """Let processes that wait go on, all at once."""
    for one in processes:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()


def all_said(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Return the lines that processes say until they end."""
    said = [one.communicate(timeout=60)[0].splitlines() for one in processes]
    assert [one.returncode for one in processes] == [0] * len(processes)
    return [line for lines in said for line in lines]


# What is found again, and by whom.


def test_a_second_process_finds_what_the_first_has_put(opened: Open, warnings: list[str]) -> None:
    with opened() as first:
        first.put({b"a": -1.5, b"b": 0.0})
    second = opened()

    assert second.get([b"a", b"b", b"c", b"a"]) == {b"a": -1.5, b"b": 0.0}
    assert second.get([]) == {}
    assert warnings == []


def test_the_first_value_of_a_key_stays(opened: Open) -> None:
    store = opened()
    store.put({b"a": -1.0})
    store.put({b"a": -2.0, b"b": -3.0})

    assert store.get([b"a", b"b"]) == {b"a": -1.0, b"b": -3.0}


@given(st.lists(st.floats(max_value=1e-3, allow_nan=False, allow_infinity=False), max_size=20))
def test_every_log_likelihood_comes_back_bit_for_bit(numbers: list[float]) -> None:
    wanted = {key(place): number for place, number in enumerate([*numbers, -0.0, 5e-324])}
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "a", warn=pytest.fail) as store,
    ):
        store.put(wanted)
        found = store.get(list(wanted))

    assert {one: number.hex() for one, number in found.items()} == {
        one: number.hex() for one, number in wanted.items()
    }


WRONG = [float("nan"), float("inf"), float("-inf"), 0.01, 1e300]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_log_likelihood_is_refused_and_nothing_of_its_batch_stored(
    opened: Open, wrong: float
) -> None:
    store = opened()
    with pytest.raises(ValueError, match=f"^{re.escape(str(wrong))} is not a log-likelihood"):
        store.put({b"a": -1.0, b"b": wrong})

    assert store.get([b"a", b"b"]) == {}


def test_a_proof_belongs_to_a_model_and_can_be_renewed(opened: Open) -> None:
    with opened() as store:
        store.put_proof("gpt2", '{"worst": 1e-7}')
        store.put_proof("gpt2", '{"worst": "größer"}')
        store.put_proof("bart", "")
    again = opened()

    assert again.get_proof("gpt2", str) == '{"worst": "größer"}'
    assert again.get_proof("bart", str) == ""
    assert again.get_proof("gpt", str) is None
    assert again.get([b"gpt2"]) == {}


def test_default_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NND_CACHE", raising=False)
    assert default_store() == tmp_path / ".cache" / "nnd" / "likelihoods.sqlite"
    monkeypatch.setenv("NND_CACHE", str(tmp_path / "elsewhere"))
    assert default_store() == tmp_path / "elsewhere" / "likelihoods.sqlite"


def test_the_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    Store(tmp_path / "a" / "b" / "c", warn=pytest.fail).close()

    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_a_closed_store_is_not_one_without_entries(opened: Open) -> None:
    store = opened()
    store.close()

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        store.get([b"a"])


def test_an_interrupt_passes_and_leaves_the_store_in_order(
    opened: Open, warnings: list[str]
) -> None:
    class Keys(list[bytes]):
        def __iter__(self) -> Iterator[bytes]:
            yield b"a"
            raise KeyboardInterrupt

    store = opened()
    with pytest.raises(KeyboardInterrupt):
        store.get(Keys())
    store.put({b"a": -1.0})

    assert store.get([b"a"]) == {b"a": -1.0}
    assert warnings == []


# Keys.


def test_every_part_of_a_row_counts_but_the_mark_of_a_cut() -> None:
    row = Encoded((1, 2), (3,), (4, 5), (True, False), truncated=False)
    others = [
        row._replace(context=(1, 3)),
        row._replace(inputs=(4,)),
        row._replace(targets=(4, 6)),
        row._replace(scored=(False, True)),
        row._replace(context=(1,), inputs=(2, 3)),
        row._replace(inputs=(3, 4), targets=(5,)),
        row._replace(context=(1, 2, 0)),
        row._replace(segments=(0, 0, 1)),
    ]

    assert len({row_key("a", one) for one in [row, *others]} | {row_key("b", row)}) == 10
    assert row_key("a", row) == row_key("a", row._replace(truncated=True))


def test_a_key_is_the_same_in_every_version() -> None:
    """Whoever changes keys loses all that is stored, so let it be on purpose."""
    row = Encoded((1, 70_000), (), (2,), (True,), truncated=True)
    # Lengths of the model's UTF-8 and of the four parts, 8 bytes each; then these five.
    lengths = [2, 2, 0, 1, 1]
    ids = [1, 70_000, 2]
    whole = (
        b"".join(n.to_bytes(8, "little") for n in lengths)
        + "é".encode()
        + b"".join(n.to_bytes(4, sys.byteorder) for n in ids)
        + b"\1"
    )

    assert row_key("é", row) == hashlib.sha256(whole).digest()[:16]


# Processes: killed, and several at once.


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", range(30 if FULL else 3))
def test_a_kill_loses_nothing_whose_put_had_returned(tmp_path: Path, number: int) -> None:
    chance = random.Random(number)
    path = tmp_path / "likelihoods.sqlite"
    for generation in range(3):  # each goes on with what the last one left
        writers = {
            first: process("write", path, first)
            for first in (generation * 1_000_000, generation * 1_000_000 + 500_000)
        }
        if generation:  # else the kill may come while it makes the tables
            for one in writers.values():
                assert one.stdout is not None
                one.stdout.readline()
        time.sleep(chance.uniform(0, 0.3))
        for one in writers.values():
            one.kill()
        for first, one in writers.items():
            # Not communicate(): it forgets what readline() has read ahead.
            with one:
                assert one.stdout is not None
                lines = one.stdout.read().splitlines(keepends=True)
            numbers = [int(line) for line in lines if line.endswith("\n")]
            last = first + len(numbers) + bool(generation) - 1
            assert numbers == list(range(first + bool(generation), last + 1))
            check_batches(path, first, last)


def check_batches(path: Path, first: int, last: int) -> None:
    """All batches up to `last` are there, and of the next either all or nothing."""
    with Store(path, warn=pytest.fail) as store:
        wanted = {
            k: v for number in range(first, last + 1) for k, v in entries(batch(number)).items()
        }
        assert store.get(list(wanted)) == wanted
        underway = entries(batch(last + 1))
        assert store.get(list(underway)) in ({}, underway)
        assert store.get(list(entries(batch(last + 2)))) == {}
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_share_a_store(path: Path, processes: int) -> None:
    # Each takes the numbers first + 0 … first + 49 * 7 + 39; the firsts are 100 apart.
    running = [process("share", path, 100 * number) for number in range(processes)]
    let_go(running)

    assert all_said(running) == []
    wanted = entries(range((processes - 1) * 100 + 49 * 7 + 40))
    with Store(path, warn=pytest.fail) as store:
        assert store.get(list(wanted)) == wanted
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM likelihoods").fetchall() == [(len(wanted),)]
    database.close()


# Damage.


def flip(raw: bytes, place: int) -> bytes:
    return raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]


def flip_value(raw: bytes) -> bytes:
    """Flip a bit of the number behind a key, also where SQLite left a copy of it."""
    place = raw.find(key(7))
    while place >= 0:
        raw = flip(raw, place + 16 + 3)
        place = raw.find(key(7), place + 1)
    return raw


def flip_checksum(raw: bytes) -> bytes:
    place = raw.find(key(7))
    while place >= 0:
        raw = flip(raw, place + 16 + 8)
        place = raw.find(key(7), place + 1)
    return raw


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut in half": lambda raw: raw[: len(raw) // 2],
    "cut by a byte": lambda raw: raw[:-1],
    "cut in the first page": lambda raw: raw[:150],
    "another header": lambda raw: b"not SQLite" * 10 + raw[100:],
    "noise all over": lambda raw: random.Random(0).randbytes(len(raw)),
    "text": lambda _: b"I am a diary.\n" * 1000,
    "noise from the second page on": lambda raw: raw[:4096] + random.Random(0).randbytes(len(raw)),
    "nothing from the second page on": lambda raw: raw[:4096] + bytes(len(raw) - 4096),
    "a bit of a value": flip_value,
    "a bit of a checksum": flip_checksum,
    "a letter of the tables' names": lambda raw: raw.replace(b"likelihoods", b"likelihoodz"),
    "a letter that is not UTF-8": lambda raw: raw.replace(
        b"TABLE likelihoods", b"\xbbABLE likelihoods"
    ),
    "one table less": lambda raw: raw.replace(b"CREATE TABLE proofs", b"CREATE TABLE prooft"),
    "an older version": lambda raw: raw[:60] + bytes(4) + raw[64:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_store_is_set_aside(
    path: Path, opened: Open, warnings: list[str], damage: str
) -> None:
    make_store(path)
    spoilt = DAMAGES[damage](path.read_bytes())
    path.write_bytes(spoilt)

    store = opened()
    assert store.get(list(ALL)) == {}

    assert asides(path) == ["likelihoods.sqlite.corrupt-1"]
    assert (path.parent / "likelihoods.sqlite.corrupt-1").read_bytes() == spoilt
    (warning,) = warnings
    assert warning.startswith(f"{path}: the store of likelihoods is damaged (")
    assert warning.endswith(
        f"); it was moved to {path}.corrupt-1 (inspect or delete it), and everything is "
        "computed again"
    )
    store.put(ALL)
    assert opened().get(list(ALL)) == ALL
    assert len(warnings) == 1


def test_what_is_put_into_a_store_found_damaged_is_put_into_the_fresh_one(
    path: Path, opened: Open, warnings: list[str]
) -> None:
    make_store(path)
    path.write_bytes(DAMAGES["noise from the second page on"](path.read_bytes()))

    new = entries(range(5000, 5100))
    opened().put(new)

    assert opened().get([*ALL, *new]) == new
    assert asides(path) == ["likelihoods.sqlite.corrupt-1"]
    assert len(warnings) == 1


def test_a_damaged_proof_is_not_believed(path: Path, opened: Open, warnings: list[str]) -> None:
    with opened() as store:
        store.put_proof("gpt2", "passed")
    path.write_bytes(path.read_bytes().replace(b"passed", b"parsed"))

    assert opened().get_proof("gpt2", str) is None
    assert asides(path) == ["likelihoods.sqlite.corrupt-1"]
    assert len(warnings) == 1


@pytest.mark.parametrize("wrong", WRONG)
def test_a_number_that_is_no_log_likelihood_is_damage(
    path: Path, opened: Open, warnings: list[str], monkeypatch: pytest.MonkeyPatch, wrong: float
) -> None:
    with opened() as store, monkeypatch.context() as patched:
        patched.setattr(store_module, "can_be_stored", lambda _: True)
        store.put({key(1): wrong, key(2): -1.0})  # with the right checksum

    assert opened().get([key(1), key(2)]) == {}
    assert asides(path) == ["likelihoods.sqlite.corrupt-1"]
    assert "a stored number is not a log-likelihood" in warnings[0]


def test_a_proof_that_cannot_be_read_is_damage(
    path: Path, opened: Open, warnings: list[str]
) -> None:
    with opened() as store:
        store.put_proof("gpt2", "I am a diary")

    assert opened().get_proof("gpt2", json.loads) is None
    assert asides(path) == ["likelihoods.sqlite.corrupt-1"]
    assert "a stored proof cannot be read" in warnings[0]


def test_damage_upon_damage_gets_a_name_of_its_own(
    path: Path, opened: Open, warnings: list[str]
) -> None:
    for number in range(3):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"%d is no database" % number * 100)
        opened().close()

    assert asides(path) == [f"likelihoods.sqlite.corrupt-{number}" for number in (1, 2, 3)]
    assert path.with_name("likelihoods.sqlite.corrupt-2").read_bytes()[0:1] == b"1"
    assert len(warnings) == 3


def test_an_empty_file_is_a_new_store(path: Path, opened: Open, warnings: list[str]) -> None:
    path.parent.mkdir()
    path.touch()
    with opened() as store:
        store.put(ALL)

    assert opened().get(list(ALL)) == ALL
    assert warnings == []


def leave_a_log(path: Path) -> None:
    """Make a store whose last batches are still in the log beside it."""
    writer = process("write", path, 0)
    assert writer.stdout is not None
    while writer.stdout.readline() != "20\n":
        pass
    writer.kill()
    writer.communicate(timeout=60)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: random.Random(0).randbytes(len(raw)),
        lambda raw: raw[: len(raw) // 2 + 11],
        lambda raw: flip(raw, len(raw) // 2),
        lambda raw: flip(raw, 3),
        lambda _: b"",
    ],
    ids=["noise", "cut", "a bit of a page", "a bit of the header", "empty"],
)
def test_of_a_damaged_log_nothing_false_is_believed(
    path: Path, opened: Open, spoil: Callable[[bytes], bytes]
) -> None:
    leave_a_log(path)
    log = path.with_name(f"{path.name}-wal")
    assert log.stat().st_size > 10_000
    log.write_bytes(spoil(log.read_bytes()))

    store = opened()
    numbers = range(100_000)
    assert store.get([key(n) for n in numbers]).items() <= entries(numbers).items()
    store.put(ALL)
    assert opened().get(list(ALL)) == ALL


@pytest.mark.parametrize("seed", range(2000 if FULL else 60))
def test_whatever_bytes_change_nothing_false_is_believed_and_nothing_raised(
    path: Path, opened: Open, seed: int
) -> None:
    make_store(path)
    chance = random.Random(seed)
    raw = bytearray(path.read_bytes())
    # The first page decides what SQLite makes of the others, so half of the changes hit it.
    for _ in range(chance.choice([1, 1, 5, 50])):
        raw[chance.randrange(chance.choice([200, len(raw)]))] = chance.randrange(256)
    path.write_bytes(raw)

    new = entries(range(5000, 5100))
    for _ in range(2):
        store = opened()
        found = store.get(list(ALL))
        assert found.items() <= ALL.items()
        store.put(new)
        assert store.get(list(new)).items() <= new.items()
        assert store.get_proof("gpt2", str) is None
        store.close()


def test_who_has_a_damaged_store_open_goes_on_with_the_fresh_one(
    path: Path, opened: Open, warnings: list[str]
) -> None:
    make_store(path)
    first, second = opened(), opened()
    path.write_bytes(flip_value(path.read_bytes()))
    assert first.get(list(ALL)) == {}
    assert path.with_name("likelihoods.sqlite.corrupt-1-wal").exists()  # second's, still open
    second.put({b"a": -1.0})
    assert second.get([key(7), b"a"]) == {b"a": -1.0}

    assert opened().get([b"a"]) == {b"a": -1.0}
    assert asides(path) == ["likelihoods.sqlite.corrupt-1"]
    assert len(warnings) == 1


def test_a_store_deleted_under_way_is_made_anew(
    path: Path, opened: Open, warnings: list[str]
) -> None:
    store = opened()
    store.put({b"a": -1.0})
    for found in path.parent.iterdir():
        found.unlink()
    path.parent.rmdir()
    assert store.get([b"a"]) == {}
    store.put({b"b": -2.0})

    assert opened().get([b"a", b"b"]) == {b"b": -2.0}
    assert warnings == []


@pytest.mark.parametrize("number", range(10 if FULL else 2))
@pytest.mark.parametrize("what", ["discover", "start"])
def test_processes_that_find_damage_at_once_set_aside_one_file(
    path: Path, what: str, number: int
) -> None:
    make_store(path)
    processes = [process(what, path, 1000 + 10 * number + one) for one in range(4)]
    if what == "discover":
        for one in processes:
            assert one.stdout is not None
            assert one.stdout.readline() == "open\n"
        spoilt = flip_value(path.read_bytes())
    else:
        spoilt = b"I am a diary.\n" * 1000
    path.write_bytes(spoilt)

    with (path.parent / ".likelihoods.sqlite.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        let_go(processes)
        time.sleep(0.5)  # by now all have found the damage, and wait for the lock to act on it
    said = all_said(processes)

    assert [line.partition(":")[0] for line in said] == ["warning"]
    assert asides(path) == ["likelihoods.sqlite.corrupt-1"]
    wanted = {k: v for one in range(4) for k, v in entries(batch(1000 + 10 * number + one)).items()}
    with Store(path, warn=pytest.fail) as store:
        assert store.get(list(wanted)) == wanted


# Stores that cannot be used.


def check_without(store: Store, warnings: list[str], where: Path, reason: str) -> None:
    """The store does nothing, and has said why, once."""
    store.put({b"a": -1.0})
    store.put_proof("gpt2", "passed")
    assert store.get([b"a"]) == {}
    assert store.get_proof("gpt2", str) is None
    (warning,) = warnings
    start = f"{where}: the store of likelihoods cannot be used: "
    assert warning.startswith(f"{start}{reason}")
    assert warning.endswith("or set NND_CACHE to a writable folder with free space")


@pytest.mark.parametrize(
    ("where", "reason"),
    [("/dev/null/x/l.sqlite", "Not a directory"), ("/proc/nnd/l.sqlite", "No such file")],
)
def test_a_folder_that_cannot_be_made(where: str, reason: str, warnings: list[str]) -> None:
    store = Store(Path(where), warn=warnings.append)

    check_without(store, warnings, Path(where), reason)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(path: Path, opened: Open, warnings: list[str]) -> None:
    make_store(path)
    path.parent.chmod(0o500)

    check_without(opened(), warnings, path, "")
    path.parent.chmod(0o700)


def test_a_folder_in_its_place(path: Path, opened: Open, warnings: list[str]) -> None:
    path.mkdir(parents=True)

    check_without(opened(), warnings, path, "unable to open database file")
    assert asides(path) == []


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ((store_module._APPLICATION, 2), "it has version 2, but this nnd reads version 1"),
        ((0, 0), "it is the database of another program"),
        ((77, 1), "it is the database of another program"),
    ],
)
def test_what_is_not_ours_is_left_alone(
    path: Path, opened: Open, warnings: list[str], numbers: tuple[int, int], reason: str
) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE likelihoods (key, entry, more)")
        database.execute(f"PRAGMA application_id = {numbers[0]}")
        database.execute(f"PRAGMA user_version = {numbers[1]}")
    database.close()
    before = path.read_bytes()

    check_without(opened(), warnings, path, reason)
    assert path.read_bytes() == before
    assert asides(path) == []


def test_a_store_that_others_keep_locked(
    path: Path, opened: Open, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_PATIENCE_S", 0.05)
    store = opened()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.get([b"a"]) == {}
    assert warnings == []  # it can be read meanwhile

    check_without(store, warnings, path, "database is locked")
    other.close()


def test_a_store_that_another_process_keeps_opening(
    path: Path, opened: Open, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_PATIENCE_S", 0.05)
    path.parent.mkdir()
    with (path.parent / ".likelihoods.sqlite.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        check_without(opened(), warnings, path, "")


@pytest.mark.parametrize("largest", [0, 10_000, 100_000])
def test_a_full_disk(path: Path, largest: int) -> None:
    said = all_said([process("fill", path, largest)])

    # The warning stands where the put gave up; later ones return and do nothing.
    places = [place for place, line in enumerate(said) if line.startswith("warning: ")]
    assert len(places) == 1
    assert "cannot be used: d" in said[places[0]]  # disk I/O error; database or disk is full
    assert len(said) == 501
    wanted = {k: v for one in range(places[0]) for k, v in entries(batch(one)).items()}
    with Store(path, warn=pytest.fail) as store:
        assert store.get(list(wanted)) == wanted
    assert bool(wanted) == (largest == 100_000)


def test_time() -> None:
    """100,000 rows of 500 ids get their keys in 2 s of CPU time; a tenth of them by default."""
    rows = 100_000 if FULL else 10_000
    row = Encoded(
        tuple(range(40_000, 40_460)), tuple(range(20)), tuple(range(20)), (True,) * 20, False
    )
    start = time.process_time()
    for number in range(rows):
        row_key("gpt2", row._replace(context=(number, *row.context[1:])))

    assert time.process_time() - start < 2


def test_time_of_a_look_up(opened: Open) -> None:
    """100,000 keys, half stored, in 1 s of CPU time (a tenth by default); a batch in 20 ms."""
    numbers = range(100_000 if FULL else 10_000)
    keys = [key(number) for number in numbers]
    store = opened()
    store.put(entries(numbers[::2]))
    start = time.process_time()
    found = store.get(keys)
    assert time.process_time() - start < 1
    assert found == {key(number): value(number) for number in numbers[::2]}

    seconds = []
    for number in range(51):
        start = time.process_time()
        store.put(entries(batch(1_000_000 + number)))
        seconds.append(time.process_time() - start)
    assert statistics.median(seconds) < 0.020
