"""Declared files in the download cache: fetched, or unpacked from a zip or a compressed copy.

They are put in place only when complete and checked. A packed file is accepted only if it is the
declared one to the last byte; nothing else from a zip reaches the disk.
"""

import contextlib
import hashlib
import lzma
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from nnd.converters.source.source import SourceFile
from nnd.schemas import (
    ARCHIVE,
    SourceError,
    cache_folder,
    file_digest,
    git_blob,
    put_in_place,
    read_members,
    write_whole,
)

_MOST_LOCKED_S = 1800


def find_cached(file: SourceFile, source_name: str) -> Path | None:
    """Return the path of a declared file in the cache, or None if it must be fetched."""
    target = cache_folder() / source_name / file.name
    with _cache_in_use(target):
        return target if target.is_file() and _difference(target, file) is None else None


def fetch(file: SourceFile, source_name: str, *, pause_s: float = 0.5) -> Path:
    """Return a declared file from the cache, fetching it from its URL where needed.

    The download is written to `NAME.part`, which a later call continues, and renamed once it is
    complete and checked; without a declared digest only a declared size can be checked. The lock
    `.NAME.lock` lets one process fetch at a time; the operating system releases it when a process
    is killed.
    """
    from nnd.converters.source.resume import complete  # noqa: PLC0415 - httpx is slow

    if (cached := find_cached(file, source_name)) is not None:
        return cached
    if file.url is None:
        raise SourceError("source.cannot-fetch", "no URL is declared", file.name, _remedy(file))
    target = cache_folder() / source_name / file.name
    part, lock = target.with_name(f"{target.name}.part"), target.with_name(f".{target.name}.lock")
    with _cache_in_use(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _check_no_links(part, lock)
        with FileLock(lock, timeout=_MOST_LOCKED_S):
            if find_cached(file, source_name) is None:  # no other process has fetched it meanwhile
                is_whole = complete(part, file.url, file, pause_s=pause_s)
                if not is_whole and _difference(part, file) is not None:
                    part.unlink()  # pieces of two versions
                    complete(part, file.url, file, pause_s=pause_s)
                if (difference := _difference(part, file)) is not None:
                    part.unlink()
                    raise SourceError(
                        "source.another-file",
                        f"what arrived is not the declared file ({difference} differs)",
                        file.url,
                    )
                put_in_place(part, target)
    return target


def _remedy(file: SourceFile) -> str:
    """Return how to come by a file without a URL; empty if it is not known."""
    if file.obtain is None:
        return ""
    return f"run `{' && '.join(file.obtain['commands'])}`, then add --from {file.obtain['from']}"


def unpack_declared(file: SourceFile, origin: Path, source_name: str) -> Path | None:
    """Return the path of a declared file after copying it from a zip to the download cache.

    It is None if the file has no declared digest, or the zip (or each zip in a folder) lacks it.
    """
    if file.sha256 is None:
        return None
    zips = [origin] if origin.is_file() else sorted(origin.rglob("*.zip"))
    found = [
        (f"{path}: {member}", raw)
        for path in zips
        for member, raw in read_members(path, called=file.name).items()
    ]
    if not found:
        return None
    place, raw = found[0]
    if len(found) > 1:
        names = " and ".join(name for name, _ in found)
        raise SourceError("source.several-files", f"{names} fit equally well")
    if hashlib.sha256(raw).hexdigest() != file.sha256:
        raise SourceError(
            "source.another-file",
            "not the declared file: its SHA-256 is not the one in source.yaml",
            place,
            'fetch it again, or unpack it and run nnd convert --accept-changed "why" on the folder',
        )
    return _keep(raw, file, source_name)


def unpack_copy(file: SourceFile, folder: Path, source_name: str) -> Path | None:
    """Return the path of a declared file after unpacking the copy `NAME.xz` in a source's folder.

    It is None if the file has no declared digest, or the folder no copy. A copy is not optional:
    where it is damaged or out of date, fetching the file instead would hide that from everyone who
    has a network.
    """
    packed = folder / f"{file.name}.xz"
    if file.sha256 is None or not packed.is_file():
        return None
    try:
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=ARCHIVE.most)
        raw = unpacker.decompress(packed.read_bytes(), ARCHIVE.most)
    except (OSError, lzma.LZMAError):
        raw = b""
    if hashlib.sha256(raw).hexdigest() != file.sha256:
        raise SourceError(
            "source.another-file",
            "not a copy of the declared file: its SHA-256, unpacked, is not the one in source.yaml",
            packed,
            "restore it, for example by installing its package again, or name your copy "
            "with --from",
        )
    return _keep(raw, file, source_name)


def _keep(raw: bytes, file: SourceFile, source_name: str) -> Path:
    """Put the declared file itself into the cache, as if it had been fetched."""
    target = cache_folder() / source_name / file.name
    with _cache_in_use(target):
        if find_cached(file, source_name) is None:
            _check_no_links(target)
            write_whole(target, raw)
    return target


def _check_no_links(*paths: Path) -> None:
    """Check that files which are about to be written are not links to files of somebody."""
    for path in paths:
        if path.is_symlink():
            raise SourceError(
                "place.foreign-files",
                "it is a link, and nothing is written through links into another place",
                path,
                "remove the link",
            )


def _difference(path: Path, file: SourceFile) -> str | None:
    """Return how `path` differs from the declared file (size, SHA-256 or git's id), or None."""
    if file.sha256 is not None:
        return None if file_digest(path) == file.sha256 else "SHA-256"
    if file.git_blob is not None:
        return None if git_blob(path) == file.git_blob else "git's id"
    return "size" if file.bytes not in (None, path.stat().st_size) else None


@contextlib.contextmanager
def _cache_in_use(target: Path) -> Iterator[None]:
    try:
        yield
    except Timeout as error:
        raise SourceError(
            "source.cannot-fetch",
            f"another process has been fetching it for {_MOST_LOCKED_S // 60} minutes",
            target,
            "wait for it, or name your copy with --from",
        ) from error
    except OSError as error:
        raise SourceError(
            "place.cannot-write",
            f"the download cache cannot be used: {error.strerror or error}",
            target,
            "set NND_CACHE to a folder with room, or name your copy with --from",
        ) from error
