"""Digests of files are computed once, unless the file may have changed; and access rights stay."""

import hashlib
import os
import stat
import time
from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.schemas import read_manifest, write_folder, write_whole
from nnd.schemas.files import digests
from nnd.schemas.files.digests import fingerprint

FACTS = {"judgement": "x", "people": {}, "differences": [], "shared": None, "rows": []}


def settle(path: Path) -> None:
    """Make a file look as if it was last written a minute ago (its ctime cannot be set)."""
    os.utime(path, (time.time() - 60, time.time() - 60))


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were hashed."""
    names: list[str] = []
    digest = hashlib.file_digest

    def record(file: object, name: str) -> object:
        names.append(Path(file.name).name)  # type: ignore[attr-defined]
        return digest(file, name)  # type: ignore[arg-type]

    monkeypatch.setattr(hashlib, "file_digest", record)
    monkeypatch.setattr(digests, "_SETTLED", -1)
    return names


def test_a_file_is_hashed_once(tmp_path: Path, hashed: list[str]) -> None:
    (tmp_path / "a").write_bytes(b"1")
    expected = {"bytes": 1, "sha256": hashlib.sha256(b"1").hexdigest()}
    assert [fingerprint(tmp_path / "a"), fingerprint(tmp_path / "a")] == [expected] * 2
    assert hashed == ["a"]


def test_a_changed_file_is_hashed_again(tmp_path: Path, hashed: list[str]) -> None:
    (tmp_path / "a").write_bytes(b"1")
    fingerprint(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"2")
    settle(tmp_path / "a")
    assert fingerprint(tmp_path / "a")["sha256"] == hashlib.sha256(b"2").hexdigest()
    assert hashed == ["a", "a"]


def test_a_file_written_just_now_is_hashed_every_time(tmp_path: Path) -> None:
    """Two changes may get the same time stamp."""
    for text in (b"1", b"2", b"3"):
        (tmp_path / "a").write_bytes(text)
        os.utime(tmp_path / "a", (1, 1))
        assert fingerprint(tmp_path / "a")["sha256"] == hashlib.sha256(text).hexdigest()


def test_the_digest_of_a_large_file_is_stored_for_other_processes(
    tmp_path: Path, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "_LARGE", 0)
    (tmp_path / "a").write_bytes(b"1")
    found = fingerprint(tmp_path / "a")
    monkeypatch.setattr(digests, "_known", {})  # as in another process
    assert fingerprint(tmp_path / "a") == found
    assert hashed == ["a"]


@pytest.mark.parametrize("kind", ["pipe", "endless", "folder"])
def test_what_is_not_a_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "endless":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        fingerprint(path)


# Access rights


def test_a_folder_and_its_files_keep_mode_and_group(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for text in (b"old", b"new"):
        write_folder(out, FACTS, document="metrics.json", files={"a": text})
        if text == b"old":
            out.chmod(0o700)
            (out / "a").chmod(0o640)
            if os.getuid() == 0:
                os.chown(out, -1, 12345)
    assert (out / "a").read_bytes() == b"new"
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (out, out / "a")]
    assert modes == [0o700, 0o640]
    assert os.getuid() != 0 or out.stat().st_gid == 12345


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    write_whole(tmp_path / "page", "old")
    (tmp_path / "page").chmod(0o600)
    write_whole(tmp_path / "page", "new")
    assert stat.S_IMODE((tmp_path / "page").stat().st_mode) == 0o600
    assert (tmp_path / "page").read_text() == "new"


def test_a_group_of_others_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    write_whole(tmp_path / "page", "old")
    monkeypatch.setattr(os, "chown", refuse)
    write_whole(tmp_path / "page", "new")
    assert (tmp_path / "page").read_text() == "new"


def test_a_document_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.json")
    with refusal("contract.broken", "manifest.json"):
        read_manifest(tmp_path)
