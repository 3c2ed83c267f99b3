"""Only what nnd wrote is replaced, as a whole; what is to be new replaces nothing."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refusal

from nnd.schemas import list_files, write_document
from nnd.schemas.files import places
from nnd.schemas.files.places import (
    check_new,
    check_replaceable,
    make_new,
    replace_folder,
    replace_own,
    write_folder,
)

DOCUMENT = "metrics.json"
FACTS: dict[str, Any] = {
    "judgement": "x",
    "people": {},
    "differences": [],
    "shared": None,
    "rows": [],
}


def fill(folder: Path, text: str) -> None:
    (folder / "data").write_text(text, encoding="utf-8")
    outputs = list_files(folder, ["data"])
    write_document(folder, {**FACTS, "outputs": outputs}, document=DOCUMENT)


def content(folder: Path) -> dict[str, str]:
    """Return the files of a folder, without the document."""
    files = (path for path in folder.iterdir() if path.name != DOCUMENT)
    return {path.name: path.read_text(encoding="utf-8") for path in files}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder that was written before, with a file that the next one will not have."""
    files = {"data": b"old", "more": b"old"}
    write_folder(tmp_path / "out", FACTS, document=DOCUMENT, files=files)
    return tmp_path / "out"


@pytest.mark.parametrize("there", [False, True])
def test_a_new_folder_is_made_with_its_parents_and_an_empty_one_is_taken(
    tmp_path: Path, *, there: bool
) -> None:
    target = tmp_path / "a/b/out"
    if there:
        target.mkdir(parents=True)

    with replace_folder(target, document=DOCUMENT) as folder:
        fill(folder, "new")

    assert content(target) == {"data": "new"}


# 0xFFFF is an unknown flag: EINVAL, as from a file system that cannot exchange.
either_way = pytest.mark.parametrize("exchange", [2, 0xFFFF], ids=["one step", "two steps"])


@either_way
def test_an_old_folder_is_replaced_as_a_whole(
    old: Path, monkeypatch: pytest.MonkeyPatch, exchange: int
) -> None:
    monkeypatch.setattr(places, "_EXCHANGE", exchange)
    before = content(old)
    with replace_folder(old, document=DOCUMENT) as folder:
        fill(folder, "new")

        assert content(old) == before  # until the end

    assert content(old) == {"data": "new"}
    assert [path.name for path in old.parent.iterdir()] == ["out"]


def fail_half_way(target: Path) -> None:
    with replace_folder(target, document=DOCUMENT) as folder:
        (folder / "data").write_text("new", encoding="utf-8")
        raise ValueError("half way")


def test_an_error_inside_leaves_the_old_folder(old: Path) -> None:
    before = content(old)

    with pytest.raises(ValueError, match="half way"):
        fail_half_way(old)

    assert content(old) == before
    assert [path.name for path in old.parent.iterdir()] == ["out"]


# What is not ours


FOREIGN: dict[str, Callable[[Path], object]] = {
    "thesis.tex": lambda folder: (folder / "thesis.tex").write_bytes(b"years of work"),
    ".git/": lambda folder: (folder / ".git/refs").mkdir(parents=True),
    "empty/": lambda folder: (folder / "empty").mkdir(),
    "run/": lambda folder: (
        (folder / "run").mkdir(),
        (folder / "run/result.json").write_text("{}", encoding="utf-8"),
    ),
    "5 files": lambda folder: [(folder / name).touch() for name in "edcba"],
    "link": lambda folder: (folder / "link").symlink_to("nowhere"),
    "fifo": lambda folder: os.mkfifo(folder / "fifo"),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("kind", ["ours", "not ours"])
def test_what_nnd_did_not_write_is_refused_by_name(old: Path, kind: str, name: str) -> None:
    if kind == "not ours":
        for path in old.iterdir():
            path.unlink()
    FOREIGN[name](old)
    before = sorted(old.rglob("*"))

    with refusal("place.foreign-files", "out"):
        check_replaceable(old, document=DOCUMENT)
    with refusal("place.foreign-files", "out"):
        fail_half_way(old)

    assert sorted(old.rglob("*")) == before


def test_files_in_folders_are_listed_by_their_paths(tmp_path: Path) -> None:
    with replace_folder(tmp_path / "out", document=DOCUMENT) as folder:
        (folder / "pairs").mkdir()
        (folder / "pairs/test").write_bytes(b"1")
        outputs = list_files(folder, ["pairs/test"])
        write_document(folder, {**FACTS, "outputs": outputs}, document=DOCUMENT)

    check_replaceable(tmp_path / "out", document=DOCUMENT)
    (tmp_path / "out/pairs/notes").touch()
    with refusal("place.foreign-files", "out"):
        check_replaceable(tmp_path / "out", document=DOCUMENT)


def test_a_link_in_the_place_of_a_file_of_ours_is_not_ours(old: Path, tmp_path: Path) -> None:
    (old / "data").rename(tmp_path / "big disk")
    (old / "data").symlink_to(tmp_path / "big disk")

    with refusal("place.foreign-files", "out"):
        check_replaceable(old, document=DOCUMENT)


def test_a_file_that_comes_during_the_work_is_not_lost(old: Path) -> None:
    before = content(old)

    def too_late() -> None:
        with replace_folder(old, document=DOCUMENT) as folder:
            fill(folder, "new")
            (old / "thesis.tex").write_text("years of work", encoding="utf-8")

    with refusal("place.foreign-files", "out"):
        too_late()

    assert content(old) == {**before, "thesis.tex": "years of work"}
    assert [path.name for path in old.parent.iterdir()] == ["out"]


@either_way
def test_a_file_that_comes_in_the_last_moment_is_not_lost(
    old: Path, monkeypatch: pytest.MonkeyPatch, exchange: int
) -> None:
    before, check = content(old), places.check_replaceable

    def check_then_write(target: Path, **options: Any) -> None:
        check(target, **options)
        (old / "thesis.tex").write_text("years of work", encoding="utf-8")

    def too_late() -> None:
        with replace_folder(old, document=DOCUMENT) as folder:
            fill(folder, "new")
            monkeypatch.setattr(places, "check_replaceable", check_then_write)

    monkeypatch.setattr(places, "_EXCHANGE", exchange)
    with refusal("place.foreign-files", "out"):
        too_late()

    assert content(old) == {**before, "thesis.tex": "years of work"}
    assert [path.name for path in old.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("place", [".", "..", "link", "/", "~", "~/.."])
def test_the_working_folder_and_the_home_folder_are_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    for name in ("work/here", "home/me"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "work/here/link").symlink_to(tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work/here")
    monkeypatch.setenv("HOME", str(tmp_path / "home/me"))

    with refusal("place.never-replaced"):
        check_replaceable(Path(place).expanduser(), document=DOCUMENT)


def test_a_folder_in_the_working_folder_is_replaced(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(old.parent)
    monkeypatch.delenv("HOME", raising=False)

    with replace_folder(Path("out"), document=DOCUMENT) as folder:
        fill(folder, "new")

    assert content(old) == {"data": "new"}


# What goes wrong with the disk


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("file", "place.wrong-kind"),
        ("file/out", "place.cannot-write"),
        ("a" * 300, "place.cannot-write"),
    ],
    ids=["a file", "under a file", "too long"],
)
def test_a_place_that_cannot_be_a_folder_is_refused(tmp_path: Path, name: str, code: str) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")

    with refusal(code, name), replace_folder(tmp_path / name, document=DOCUMENT):
        pass

    assert content(tmp_path) == {"file": "mine"}


@pytest.mark.parametrize("goes_to", ["folder", "nothing"])
def test_a_link_is_followed_and_stays_a_link(tmp_path: Path, goes_to: str) -> None:
    if goes_to == "folder":
        (tmp_path / "big disk").mkdir()
    (tmp_path / "out").symlink_to("big disk")

    for text in ("old", "new"):
        with replace_folder(tmp_path / "out", document=DOCUMENT) as folder:
            fill(folder, text)

    assert (tmp_path / "out").is_symlink()
    assert content(tmp_path / "big disk") == {"data": "new"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big disk", "out"]


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from nnd.schemas import list_files, replace_folder, write_document
from nnd.schemas.files import places

target, names = Path(sys.argv[1]), ("metrics.json", "a", "b", "c")
facts = {"judgement": "x", "people": {}, "differences": [], "shared": None, "rows": []}
if sys.argv[2] == "two steps":
    places._EXCHANGE = 0xFFFF  # an unknown flag: EINVAL, as from file systems that cannot exchange

def write(text):
    with replace_folder(target, document=names[0]) as folder:
        for name in names[1:]:
            (folder / name).write_text(text)
        outputs = list_files(folder, names[1:])
        write_document(folder, {**facts, "outputs": outputs}, document=names[0])

def found():
    assert sorted(path.name for path in target.iterdir()) == sorted(names), "other files"
    return {(target / name).read_text() for name in names[1:]}

chance = random.Random(0)
write("first")
for attempt in range(25):
    child = os.fork()
    if not child:
        for number in range(1_000_000):
            write(f"{attempt}.{number}")
    time.sleep(chance.uniform(0.002, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if target.exists() or sys.argv[2] == "one step":
        assert len(found()) == 1
    try:
        with replace_folder(target, document=names[0]):
            assert len(found()) == 1  # put back, if it was away
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert len(found()) == 1
    assert os.listdir(target.parent) == ["out"], "leftovers"
"""


@pytest.mark.parametrize("steps", ["one step", "two steps"])
def test_a_kill_at_any_moment_leaves_a_whole_folder(tmp_path: Path, steps: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "out", steps],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


# Single files


def is_ours(path: Path) -> bool:
    return path.read_bytes().startswith(b"nnd")


def write_own(path: Path) -> None:
    with replace_own(path, is_ours) as fresh:
        fresh.write_bytes(b"nnd new")


@pytest.mark.parametrize("before", [None, b"", b"nnd old"])
def test_a_file_of_ours_is_replaced(tmp_path: Path, before: bytes | None) -> None:
    if before is not None:
        (tmp_path / "file").write_bytes(before)

    write_own(tmp_path / "file")

    assert content(tmp_path) == {"file": "nnd new"}


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")

    with refusal("place.foreign-files", "file"):
        write_own(tmp_path / "file")

    assert content(tmp_path) == {"file": "mine"}


def test_a_folder_or_a_device_is_no_file(tmp_path: Path) -> None:
    with refusal("place.wrong-kind", "test_a_folder_or_a_device_is_n0"):
        write_own(tmp_path)
    with refusal("place.foreign-files", "null"):
        write_own(Path("/dev/null"))


def test_another_file_that_comes_during_the_work_is_not_lost(tmp_path: Path) -> None:
    def too_late() -> None:
        with replace_own(tmp_path / "file", is_ours) as fresh:
            fresh.write_bytes(b"nnd new")
            (tmp_path / "file").write_text("mine", encoding="utf-8")

    with refusal("place.foreign-files", "file"):
        too_late()

    assert content(tmp_path) == {"file": "mine"}


# What is to be new


def test_a_new_file_or_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    with make_new(tmp_path / "a/file") as fresh:
        fresh.write_text("new", encoding="utf-8")
    with make_new(tmp_path / "a/folder") as fresh:
        fresh.mkdir()
        fill(fresh, "new")

    assert (tmp_path / "a/file").read_text(encoding="utf-8") == "new"
    assert content(tmp_path / "a/folder") == {"data": "new"}
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_what_is_there_is_not_replaced(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    match kind:
        case "file":
            out.write_text("mine", encoding="utf-8")
        case "folder":
            out.mkdir()
        case _:
            out.symlink_to(tmp_path / "nowhere")

    with refusal("place.exists", "out"):
        check_new(out)
    with refusal("place.exists", "out"), make_new(out):
        pytest.fail("it handed out a path")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    def too_late() -> None:
        with make_new(tmp_path / "out") as fresh:
            fresh.write_text("new", encoding="utf-8")
            (tmp_path / "out").write_text("mine", encoding="utf-8")

    with refusal("place.exists", "out"):
        too_late()

    assert content(tmp_path) == {"out": "mine"}


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_an_error_inside_leaves_nothing(tmp_path: Path, kind: str) -> None:
    def fail_half_way() -> None:
        with make_new(tmp_path / "out") as fresh:
            if kind == "file":
                fresh.write_text("new", encoding="utf-8")
            else:
                fresh.mkdir()
                fill(fresh, "new")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with refusal("place.cannot-write", "out"):
        fail_half_way()

    assert list(tmp_path.iterdir()) == []
