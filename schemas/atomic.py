"""Writing a file so that a kill at any moment leaves the old one or the new one, never a part."""

import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file; folders are made as needed.

    Raises:
        OSError: If it cannot be written; what was there before is left as it was.
    """
    path = Path(os.path.realpath(path))  # a link is followed, not replaced
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        fresh.write_bytes(content)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
