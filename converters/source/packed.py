"""Declared files that somebody keeps in a zip.

Such a file is taken only if it is the declared one to the last byte, and is then put into the
download cache: nothing else that a stranger packed reaches the disk.
"""

import hashlib
from pathlib import Path

from nnd.converters.reading import read_members
from nnd.converters.source.download import keep
from nnd.converters.source.source import SourceFile
from nnd.schemas import SourceError


def unpack_declared(file: SourceFile, origin: Path, source_name: str) -> Path | None:
    """Return where a declared file lies, taken from the zip that holds it by its name.

    Args:
        file: The file; one without a digest is not looked for.
        origin: A zip, or a folder with one.
        source_name: Whose file it is.

    Returns:
        Its place in the download cache, or None where no zip holds it.

    Raises:
        SourceError: If a zip cannot be read, several files have the name, or the one that has it is
            not the declared one.
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
