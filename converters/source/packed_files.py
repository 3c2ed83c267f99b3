"""Declared files inside a zip, or in a compressed copy that a source's folder has.

Such a file is accepted only if it is the declared one to the last byte. It is then written to the
download cache; nothing else from the zip reaches the disk.
"""

import hashlib
import lzma
from pathlib import Path

from nnd.converters.reading import MOST_BYTES, read_members
from nnd.converters.source.download import keep
from nnd.converters.source.source import SourceFile
from nnd.schemas import SourceError


def unpack_declared(file: SourceFile, origin: Path, source_name: str) -> Path | None:
    """Return the path of a declared file after copying it from a zip to the download cache.

    It is None if the file has no declared digest, or the zip (or each zip in a folder) lacks it.

    Raises:
        SourceError: If a zip cannot be read, or holds several files of that name, or one that is
            not the declared file.
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
        raise SourceError(f"{names} fit equally well; name one of the zips with --from")
    if hashlib.sha256(raw).hexdigest() != file.sha256:
        raise SourceError(
            f"{place} is not the declared file: its SHA-256 is not the one in source.yaml; fetch "
            'it again, or unpack it and convert the folder with --accept-changed "why"'
        )
    return keep(raw, file, source_name)


def unpack_copy(file: SourceFile, folder: Path, source_name: str) -> Path | None:
    """Return the path of a declared file after unpacking the copy `NAME.xz` in a source's folder.

    It is None if the file has no declared digest, or the folder no copy. A copy is not optional:
    where it is damaged or out of date, fetching the file instead would hide that from everyone who
    has a network.

    Raises:
        SourceError: If the copy is not that of the declared file.
    """
    packed = folder / f"{file.name}.xz"
    if file.sha256 is None or not packed.is_file():
        return None
    try:
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_BYTES)
        raw = unpacker.decompress(packed.read_bytes(), MOST_BYTES)
    except (OSError, lzma.LZMAError) as error:
        raise _not_the_copy(packed, f"it cannot be unpacked ({error})") from error
    if hashlib.sha256(raw).hexdigest() != file.sha256:
        raise _not_the_copy(packed, "its SHA-256, unpacked, is not the one in source.yaml")
    return keep(raw, file, source_name)


def _not_the_copy(packed: Path, reason: str) -> SourceError:
    return SourceError(
        f"{packed}: not a copy of the declared file: {reason}; restore it, for example by "
        "installing its package again, or name your copy with --from"
    )
