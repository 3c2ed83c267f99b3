"""Parquet files, here or behind a URL that fsspec opens: in object stores, on web servers.

A file behind a URL is not copied: what is asked of it is read, a row group at a time where that is
enough. `s3://`, `gs://` and `az://` need a package each, which fsspec names; `hf://` needs none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, TypeAlias, TypeGuard

from nnd.schemas import ScoringError

File: TypeAlias = Path | str
"""A file here, or the URL of one."""


def is_url(data: object) -> TypeGuard[str]:
    """Whether data is the URL of a file."""
    return isinstance(data, str) and "://" in data


def stem_of(url: str) -> str:
    """Return the name of the file behind a URL, without its ending."""
    return PurePosixPath(url.partition("?")[0]).stem


@contextmanager
def readable(file: File) -> Iterator[Path | BinaryIO]:
    """Yield what Arrow can read a file from.

    Raises:
        ScoringError: If it cannot be opened, or what is done with it finds that it is not Parquet.
    """
    try:
        if isinstance(file, Path):
            yield file
        else:
            with _opened(file) as opened:
                yield opened
    except (OSError, ValueError) as error:
        raise ScoringError(f"{file}: cannot be read as Parquet: {error}") from error


@contextmanager
def _opened(url: str) -> Iterator[BinaryIO]:
    """Open a file; each file system of fsspec has errors of its own, which become an OSError."""
    from fsspec.core import url_to_fs  # noqa: PLC0415 - seldom needed

    try:
        system, path = url_to_fs(url)
    except ImportError as error:
        raise OSError(str(error)) from error
    except ValueError as error:
        raise OSError(f"{error}; use https://, hf://, s3://, gs:// or az://") from error
    try:
        with system.open(path, "rb") as file:
            yield file
    except ValueError:  # of Arrow
        raise
    except Exception as error:
        cause = error.__cause__ or error  # over HTTP, all that goes wrong is a FileNotFoundError
        if isinstance(cause, FileNotFoundError):
            reason = "there is no such file; check the URL, which must be of a file"
        else:
            said = str(cause).partition("\n")[0] or repr(cause)
            reason = f"{said}; check the URL, and that this machine has access to it"
        raise OSError(reason) from error
