"""A file is replaced in one step, or left as it was."""

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nnd.schemas.files import atomic
from nnd.schemas.files.atomic import put_in_place, replace_file, write_whole


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("old", encoding="utf-8")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("content", "raw"), [("ü\r\n\n", b"\xc3\xbc\r\n\n"), (b"\xff\x00\r\n", b"\xff\x00\r\n")]
)
@pytest.mark.parametrize("place", ["file", "a/b/file"])
def test_text_is_utf_8_and_all_else_as_it_is(
    old: Path, place: str, content: str | bytes, raw: bytes
) -> None:
    path = old.parent / place
    write_whole(path, content)

    assert path.read_bytes() == raw
    assert names(path.parent) == ["file"]


def test_until_the_end_the_old_file_stands(old: Path) -> None:
    with replace_file(old) as fresh:
        fresh.write_text("new", encoding="utf-8")
        assert fresh.parent.parent == old.parent
        assert old.read_text(encoding="utf-8") == "old"

    assert old.read_text(encoding="utf-8") == "new"
    assert names(old.parent) == ["file"]


def fail_half_way(old: Path) -> None:
    with replace_file(old) as fresh:
        fresh.write_text("half", encoding="utf-8")
        raise ValueError("half way")


def fail_at_the_second(old: Path) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(replace_file(old)).write_text("new", encoding="utf-8")
        stack.enter_context(replace_file(old.with_name("second")))
        raise ValueError("half way")


@pytest.mark.parametrize("fail", [fail_half_way, fail_at_the_second])
def test_an_error_inside_leaves_the_old_file(old: Path, fail: Callable[[Path], None]) -> None:
    with pytest.raises(ValueError, match="half way"):
        fail(old)

    assert old.read_text(encoding="utf-8") == "old"
    assert names(old.parent) == ["file"]


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "big disk").mkdir()
    (tmp_path / "link").symlink_to("big disk/file")

    write_whole(tmp_path / "link", "new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "big disk/file").read_text(encoding="utf-8") == "new"
    assert names(tmp_path) == ["big disk", "link"]


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    def out_of_room() -> None:
        with replace_file(tmp_path / "file"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as `write` raises it

    def another_file() -> None:
        with replace_file(tmp_path / "file"):
            (tmp_path / "nowhere").read_bytes()

    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        write_whole(tmp_path / "folder", "new")
    assert caught.value.filename == str(tmp_path / "folder")
    with pytest.raises(OSError, match="No space left") as full:
        out_of_room()
    assert full.value.filename == str(tmp_path / "file")
    with pytest.raises(FileNotFoundError) as missing:
        another_file()
    assert missing.value.filename == str(tmp_path / "nowhere")
    assert names(tmp_path) == ["folder"]


def test_file_and_folder_are_on_the_disk_before_it_returns(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, str]] = []

    def sync(opened: int) -> None:
        path = Path(f"/proc/self/fd/{opened}").readlink()
        synced.append((path.name, old.read_text(encoding="utf-8")))

    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not tell which file a descriptor is of")
    fresh = old.with_name("fresh")
    fresh.write_text("new", encoding="utf-8")
    monkeypatch.setattr(atomic.os, "fsync", sync)
    put_in_place(fresh, old)

    # The content before the name is changed, the name after it.
    assert synced == [("fresh", "old"), (old.parent.name, "new")]


@pytest.mark.parametrize(
    ("code", "fails"), [(errno.EINVAL, False), (errno.EIO, True)], ids=["cannot", "broken"]
)
def test_a_folder_that_the_system_cannot_sync_is_no_error(
    old: Path, monkeypatch: pytest.MonkeyPatch, code: int, *, fails: bool
) -> None:
    def sync(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(atomic.os, "fsync", sync)
    with pytest.raises(OSError, match="Input/output") if fails else contextlib.nullcontext():
        atomic.sync(old.parent)
    with pytest.raises(OSError, match=os.strerror(code)):
        atomic.sync(old)


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from nnd.schemas.files.atomic import write_whole

target = Path(sys.argv[1])
chance = random.Random(0)
for attempt in range(25):
    child = os.fork()
    if not child:
        for number in range(1_000_000):
            write_whole(target, f"{attempt}.{number};" * 20_000)
    while not target.exists():
        time.sleep(0.001)
    time.sleep(chance.uniform(0.002, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = target.read_text().split(";")
    assert len(found) == 20_001 and len(set(found[:-1])) == 1, found[:3]
    write_whole(target, "x;" * 20_000)
    assert os.listdir(target.parent) == ["file"], "leftovers"
"""


def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "file"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


FULL = """
import resource, sys
from pathlib import Path
from nnd.schemas.files.atomic import write_whole

resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_whole(Path(sys.argv[1]), "x" * 2000)
except OSError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file(old: Path) -> None:
    # A limit on file size stops a write half way, as a full disk does (with another errno).
    done = subprocess.run(
        [sys.executable, "-c", FULL, old], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"[Errno 27] File too large: '{old}'\n"
    assert old.read_text(encoding="utf-8") == "old"
    assert names(old.parent) == ["file"]
