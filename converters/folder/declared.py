"""Whether the files that were read are the declared ones, and give what is declared of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from nnd.converters.source import Files, Source
from nnd.schemas import SourceError

Digests = Sequence[Mapping[str, Any]]
"""What a manifest says of the files that were read (`Files.digests`)."""


def check_files(files: Files, accept_changed: str | None) -> None:
    """Refuse a file that has a declared name and is not the declared file.

    Args:
        files: Those of a conversion, after they were read.
        accept_changed: Why others are accepted, or None.

    Raises:
        SourceError: If there is one and nobody said why it may be.
    """
    for file in files.changed() if accept_changed is None else ():
        path = files.opened[file.name]
        declared = "" if file.bytes is None else f" of {file.bytes:,} bytes"
        raise SourceError(
            f"{path}: {path.stat().st_size:,} bytes, and not the declared file{declared} (another "
            "SHA-256); it may be cut off or edited: fetch it again, add it under `versions` in "
            'source.yaml, or say with --accept-changed "why" that it is right'
        )


def expected_counts(source: Source, digests: Digests) -> Mapping[str, Any]:
    """Return the counts that these files are known to give; none where one is not verified."""
    if not digests or not all(entry["verified"] for entry in digests):
        return {}
    versions = [entry for entry in digests if "version" in entry]
    if not versions:
        return source.facts["expected"] or {}
    if len(versions) > 1 or source.variant is not None:
        return {}  # counted was each version alone, in the main reading
    (file,) = (file for file in source.files if file.name == versions[0]["name"])
    (counted,) = (each for each in file.versions if each.sha256 == versions[0]["sha256"])
    return counted.expected or {}
