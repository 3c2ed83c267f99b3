"""What is left of a killed run goes with the next; what may belong to a living one stays."""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nnd.schemas.files.workplaces import NEW, temporary_folder, workplace

MODULE = sys.modules["nnd.schemas.files.workplaces"]

OWNER = """
import sys
from pathlib import Path
from nnd.schemas import workplace

with workplace(Path(sys.argv[1])) as place:
    (place / "new").mkdir()
    (place / "new/data").write_text("half")
    print(place, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """A process at work on `out`, and its workplace."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, tmp_path / "out"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def clean(target: Path) -> None:
    with workplace(target):
        pass


def test_a_workplace_is_private_and_goes(tmp_path: Path) -> None:
    with workplace(tmp_path / "out") as place:
        (place / NEW).mkdir()
        (place / NEW / "data").touch()
        assert place.parent == tmp_path
        assert place.stat().st_mode & 0o777 == 0o700

    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_goes_with_the_next(
    owner: tuple["subprocess.Popen[str]", Path], tmp_path: Path
) -> None:
    process, place = owner
    process.kill()
    process.wait()
    assert (place / NEW / "data").read_text() == "half"

    clean(tmp_path / "other")
    assert list(tmp_path.iterdir()) == [place]
    clean(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_a_living_run_needs_stays(
    owner: tuple["subprocess.Popen[str]", Path], tmp_path: Path
) -> None:
    _, place = owner

    clean(tmp_path / "out")

    assert (place / NEW / "data").read_text() == "half"


def left(tmp_path: Path, lock: str | None) -> Path:
    place = tmp_path / ".out.0123abcd"
    place.mkdir()
    if lock is not None:
        (place / ".nnd-lock").write_text(lock)
        (place / NEW).touch()
    return place


@pytest.mark.parametrize("lock", [None, "", "here", "here-before-a-reboot", "container-on-here"])
def test_leftovers_of_this_host_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: str | None
) -> None:
    names = {
        "here": "host boot",
        "here-before-a-reboot": "host earlier",
        "container-on-here": "1f2e3d boot",
    }
    monkeypatch.setattr(MODULE, "_here", lambda: frozenset({"host", "boot"}))
    left(tmp_path, names.get(lock or "", lock))

    clean(tmp_path / "out")

    assert list(tmp_path.iterdir()) == []


def test_what_another_host_may_be_at_work_on_stays(tmp_path: Path) -> None:
    place = left(tmp_path, "another-host another-boot")

    clean(tmp_path / "out")

    assert (place / NEW).exists()


def test_without_locks_nothing_is_removed_and_all_else_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    place = left(tmp_path, "")
    monkeypatch.setattr(fcntl, "flock", no_locks)

    clean(tmp_path / "out")

    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("name", [".out.0123abcd", ".out.backup", ".out", "out.0123abcd"])
def test_what_only_looks_like_a_leftover_stays(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.tex").touch()
    if name != ".out.0123abcd":
        (tmp_path / name / ".nnd-lock").touch()
    (tmp_path / ".out.aaaaaaaa").touch()
    (tmp_path / ".out.bbbbbbbb").symlink_to(name)

    clean(tmp_path / "out")

    assert (tmp_path / name / "thesis.tex").exists()
    assert {path.name for path in tmp_path.iterdir()} == {name, ".out.aaaaaaaa", ".out.bbbbbbbb"}


def test_a_workplace_that_is_removed_before_its_lock_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, places = os.open, []

    def open_late(path: Path, *how: int, **mode: int) -> int:
        if path.parent not in places:
            places.append(path.parent)
            if len(places) == 1:
                path.parent.rmdir()  # as another run does, which takes it for a leftover
        return opened(path, *how, **mode)

    monkeypatch.setattr(os, "open", open_late)
    with workplace(tmp_path / "out") as place:
        assert [place] == places[1:] == list(tmp_path.iterdir())


def test_a_temporary_folder_is_empty_and_goes_even_if_it_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = left(tmp_path, "").rename(tmp_path / ".nnd-x.0123abcd")

    with temporary_folder("nnd-x") as folder:
        assert list(folder.iterdir()) == []
        assert not place.exists()

    assert list(tmp_path.iterdir()) == []
