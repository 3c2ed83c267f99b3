"""Errors of the disk: what is said, and what is done without locks."""

import errno
import fcntl
import os
from pathlib import Path
from typing import NoReturn

import pytest
from support.refusals import refusal

from nnd.schemas import exclusive, remedy_for, write_whole
from nnd.schemas.files import atomic

CODES = (errno.ENOSPC, errno.EROFS, errno.ESTALE, errno.ENOLCK, errno.EIO, errno.EACCES)


def test_each_kind_of_error_has_its_own_remedy() -> None:
    remedies = [remedy_for(OSError(code, os.strerror(code))) for code in CODES]
    assert len({*remedies}) == len(CODES)
    assert remedy_for(OSError("without a number")) == remedies[-1]


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP])
def test_a_file_system_without_locks_is_written_without(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with exclusive(tmp_path / "run"):
        (tmp_path / "run").mkdir()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_read_only_place_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refuse)
    with refusal("place.cannot-write") as refused, exclusive(tmp_path / "run"):
        pass
    assert "read-only" in str(refused.value)


def test_a_fault_after_the_exchange_says_that_the_content_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = atomic.sync

    def refuse_folders(path: Path) -> None:
        if path.is_dir():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        synced(path)

    monkeypatch.setattr(atomic, "sync", refuse_folders)
    with pytest.raises(OSError, match="the new content is in place") as raised:
        write_whole(tmp_path / "page.html", "new")
    assert raised.value.errno == errno.EIO
    assert (tmp_path / "page.html").read_text() == "new"
