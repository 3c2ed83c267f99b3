"""Open Parquet files on this machine, or at a URL of an object store or web server (fsspec).

A file at a URL is not copied; only the row groups and columns that are needed are read. `s3://`,
`gs://` and `az://` each need a package, which fsspec names; `hf://` needs none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, TypeAlias, TypeGuard

from nnd.schemas import UNPACKED, ScoringError, SourceError, temporary_folder

File: TypeAlias = Path | str
"""A local file, or a URL."""

_PIECE = 2**20


def is_url(data: object) -> TypeGuard[str]:
    """Whether data is a URL."""
    return isinstance(data, str) and "://" in data


def stem_of(url: str) -> str:
    """Return the name of the file at a URL, without its suffix."""
    return PurePosixPath(url.partition("?")[0]).stem


@contextmanager
def readable(file: File) -> Iterator[Path | BinaryIO]:
    """Yield a path or an open file for Arrow.

    An OSError or ValueError in the block becomes the error that the file is not Parquet.
    """
    try:
        if isinstance(file, Path):
            yield file
        else:
            with _opened(file) as opened:
                yield opened
    except ScoringError:
        raise
    except SourceError as error:  # beyond a limit
        raise error.inside("", ScoringError) from error
    except FileNotFoundError as error:
        raise ScoringError("file.not-found", "no such file", file) from error
    except (OSError, ValueError) as error:
        raise ScoringError(
            "file.not-parquet", f"cannot be read as Parquet: {error}", file
        ) from error


@contextmanager
def fetched(file: File) -> Iterator[Path]:
    """Yield the path of a local file, or of a copy of the file at a URL."""
    if isinstance(file, Path):
        yield file
        return
    with temporary_folder("nnd-data") as folder:
        copy, left = folder / PurePosixPath(file.partition("?")[0]).name, UNPACKED.most
        with _opened(file) as opened, copy.open("wb") as written:
            while piece := opened.read(_PIECE):
                left -= written.write(piece)
                if left < 0:
                    raise UNPACKED.error(file)
        yield copy


@contextmanager
def _opened(url: str) -> Iterator[BinaryIO]:
    """Open a file; the various errors of fsspec's file systems become a ScoringError."""
    from fsspec.core import url_to_fs  # noqa: PLC0415 - rarely needed

    try:
        system, path = url_to_fs(url)
    except ImportError as error:
        why = str(error)  # such as "Install s3fs to access S3"
        raise ScoringError(
            "extra.missing", "cannot be opened", url, f"{why[:1].lower()}{why[1:]}"
        ) from error
    except ValueError as error:
        raise ScoringError(
            "file.not-found", str(error), url, "use https://, hf://, s3://, gs:// or az://"
        ) from error
    try:
        with system.open(path, "rb") as file:
            yield file
    except (ValueError, SourceError):  # raised by Arrow, or beyond a limit
        raise
    except Exception as error:
        cause = error.__cause__ or error  # over HTTP, every failure is a FileNotFoundError
        if isinstance(cause, FileNotFoundError):
            code, problem = "file.not-found", "file not found"
            remedy = "check the URL, which must name a single file"
        else:
            code, problem = "file.not-readable", str(cause).partition("\n")[0] or repr(cause)
            remedy = "check the URL, and that this machine has access to it"
        raise ScoringError(code, problem, url, remedy) from error
