"""A folder is replaced as a whole or left as it was; what is to be new replaces nothing."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nnd.schemas import NNDError, places
from nnd.schemas.places import check_new, make_new, replace_folder

MARKER = "manifest.json"


def fill(folder: Path, text: str) -> None:
    (folder / MARKER).write_text(text, encoding="utf-8")
    (folder / "data").write_text(text, encoding="utf-8")


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder that was written before, with a file that the next one will not have."""
    folder = tmp_path / "out"
    folder.mkdir()
    fill(folder, "old")
    (folder / "more").write_text("old", encoding="utf-8")
    return folder


def test_a_new_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    target = tmp_path / "a/b/out"

    with replace_folder(target, marker=MARKER) as folder:
        fill(folder, "new")

    assert content(target) == {MARKER: "new", "data": "new"}


def test_an_old_folder_is_replaced_as_a_whole(old: Path) -> None:
    with replace_folder(old, marker=MARKER) as folder:
        fill(folder, "new")

    assert content(old) == {MARKER: "new", "data": "new"}


def test_nothing_else_stays_beside_it(old: Path) -> None:
    with replace_folder(old, marker=MARKER) as folder:
        fill(folder, "new")

    assert [path.name for path in old.parent.iterdir()] == ["out"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    with replace_folder(tmp_path / "out", marker=MARKER) as folder:
        fill(folder, "new")

    assert content(tmp_path / "out") == {MARKER: "new", "data": "new"}


def test_until_the_end_the_old_folder_stands(old: Path) -> None:
    with replace_folder(old, marker=MARKER) as folder:
        fill(folder, "new")

        assert content(old) == {MARKER: "old", "data": "old", "more": "old"}


def fail_half_way(target: Path) -> None:
    with replace_folder(target, marker=MARKER) as folder:
        (folder / MARKER).write_text("new", encoding="utf-8")
        raise ValueError("half way")


def test_an_error_inside_leaves_the_old_folder(old: Path) -> None:
    with pytest.raises(ValueError, match="half way"):
        fail_half_way(old)

    assert content(old) == {MARKER: "old", "data": "old", "more": "old"}
    assert [path.name for path in old.parent.iterdir()] == ["out"]


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")

    with (
        pytest.raises(NNDError, match="out: is a file; name a folder with --out"),
        replace_folder(tmp_path / "out", marker=MARKER),
    ):
        pass

    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")

    with (
        pytest.raises(NNDError, match=r"holds something else \(there is no manifest\.json"),
        replace_folder(tmp_path, marker=MARKER),
    ):
        pass

    assert content(tmp_path) == {"thesis.tex": "years of work"}


def test_a_folder_under_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")

    with (
        pytest.raises(NNDError, match=r"cannot be written: .*name another folder with --out"),
        replace_folder(tmp_path / "file" / "out", marker=MARKER),
    ):
        pass


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(NNDError, match="cannot be written: File name too long"),
        replace_folder(tmp_path / ("a" * 300), marker=MARKER),
    ):
        pass


def test_the_working_folder_can_be_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")

    with replace_folder(Path(), marker=MARKER) as folder:
        fill(folder, "new")
    monkeypatch.chdir(tmp_path)

    assert content(tmp_path / "out") == {MARKER: "new", "data": "new"}


@pytest.mark.parametrize("goes_to", ["folder", "nothing"])
def test_a_link_is_followed_and_stays_a_link(tmp_path: Path, goes_to: str) -> None:
    if goes_to == "folder":
        (tmp_path / "big disk").mkdir()
    (tmp_path / "out").symlink_to("big disk")

    for text in ("old", "new"):
        with replace_folder(tmp_path / "out", marker=MARKER) as folder:
            fill(folder, text)

    assert (tmp_path / "out").is_symlink()
    assert content(tmp_path / "big disk") == {MARKER: "new", "data": "new"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big disk", "out"]


def test_a_file_system_that_cannot_exchange_is_served_in_two_steps(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_EXCHANGE", 0xFFFF)  # an unknown flag: EINVAL, as from such ones

    with replace_folder(old, marker=MARKER) as folder:
        fill(folder, "new")

    assert content(old) == {MARKER: "new", "data": "new"}
    assert [path.name for path in old.parent.iterdir()] == ["out"]


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from nnd.schemas import replace_folder

target, names = Path(sys.argv[1]), ("manifest.json", "a", "b", "c")
chance = random.Random(0)
for attempt in range(25):
    child = os.fork()
    if not child:
        for number in range(1_000_000):
            with replace_folder(target, marker="manifest.json") as folder:
                for name in names:
                    (folder / name).write_text(f"{attempt}.{number}")
    while not target.exists():
        time.sleep(0.001)
    time.sleep(chance.uniform(0.002, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = {name: (target / name).read_text() for name in names}
    assert sorted(path.name for path in target.iterdir()) == sorted(names), "other files"
    assert len(set(found.values())) == 1 and all(found.values()), found
"""


def test_a_kill_at_any_moment_leaves_a_whole_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


# What is to be new


def test_a_new_file_or_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    with make_new(tmp_path / "a/file") as fresh:
        fresh.write_text("new", encoding="utf-8")
    with make_new(tmp_path / "a/folder") as fresh:
        fresh.mkdir()
        fill(fresh, "new")

    assert (tmp_path / "a/file").read_text(encoding="utf-8") == "new"
    assert content(tmp_path / "a/folder") == {MARKER: "new", "data": "new"}
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

    with pytest.raises(NNDError, match="out: already exists; name another place with --out"):
        check_new(out)
    with pytest.raises(NNDError, match="out: already exists"), make_new(out):
        pytest.fail("it handed out a path")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    def too_late() -> None:
        with make_new(tmp_path / "out") as fresh:
            fresh.write_text("new", encoding="utf-8")
            (tmp_path / "out").write_text("mine", encoding="utf-8")

    with pytest.raises(NNDError, match="out: already exists"):
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

    with pytest.raises(NNDError, match="out: cannot be written: No space left on device; make roo"):
        fail_half_way()

    assert list(tmp_path.iterdir()) == []
