"""Declared files inside a zip.

Such a file is accepted only if it is the declared one to the last byte. It is then written to the
download cache; nothing else from the zip reaches the disk.
"""

import hashlib
from pathlib import Path

from nnd.converters.reading import read_members
from nnd.converters.source.download import keep
from nnd.converters.source.source import SourceFile
from nnd.schemas import SourceError


def unpack_declared(file: SourceFile, origin: Path, source_name: str) -> Path | None:
    """Return the path of a declared file after copying it from a zip to the download cache.

    Args:
        file: The file; one without a digest is never found.
        origin: A zip, or a folder with one.
        source_name: The source that declares it.

    Returns:
        Its path in the download cache, or None if no zip holds it.

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
