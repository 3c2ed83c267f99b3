"""Files that are declared by a pattern, such as `human/*.jsonl`, and read as one.

Their names may say who annotated, so nothing names them: the whole is called after their folder,
and its digest depends on what they contain alone.
"""

import hashlib
from pathlib import Path, PurePath

from nnd.converters.source.source import SourceFile
from nnd.schemas import SourceError, cache_folder, write_whole


def join_files(file: SourceFile, origin: Path, source_name: str) -> Path:
    """Return the path of a file in the cache with the content of all files of a pattern.

    They follow each other in the order of their content. `origin` is the folder that they are in,
    at any depth, or a file in that folder.
    """
    folder = origin.parent if origin.is_file() else origin
    found = (path.read_bytes() for path in folder.rglob(file.name) if path.is_file())
    whole = b"".join(raw if raw.endswith(b"\n") else raw + b"\n" for raw in sorted(found))
    if not whole:
        raise SourceError(
            "file.not-found", f"{file.name} not found", folder, "name the folder with --from"
        )
    pattern = PurePath(file.name)
    name = f"{pattern.parent.name or source_name}{pattern.suffix}"
    target = cache_folder() / source_name / hashlib.sha256(whole).hexdigest()[:16] / name
    if not target.is_file():
        write_whole(target, whole)
    return target
