"""Read facts about the source of pairs from the manifest: name, licence and notes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nnd.metric.data.any_frames import PairData
from nnd.metric.data.data_places import find_place
from nnd.metric.data.pairs import NEEDED
from nnd.metric.data.remote import is_url
from nnd.schemas import MANIFEST, ScoringError, find_manifest


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of some pairs.

    Attributes:
        name: Its display name.
        licence: An SPDX identifier, or `unknown`.
        homepage: Its address on the web, or None.
        notes: Notes about it, each of a sentence or two.
    """

    name: str
    licence: str
    homepage: str | None
    notes: tuple[str, ...]


def read_origin(data: PairData) -> Origin | None:
    """Return the source of some pairs (`load_pairs`).

    It is None without a manifest, as for a file, a URL or a table in memory.
    """
    if not isinstance(data, str | Path) or is_url(data):
        return None
    folder = find_place(data, NEEDED).path
    manifest = find_manifest(folder)
    if not manifest:
        return None
    source = manifest.get("source")
    if not isinstance(source, Mapping):
        raise ScoringError(
            "data.convert-again", "the name of the source is missing", folder / MANIFEST
        )
    homepage, notes = source.get("homepage"), source.get("notes")
    is_address = isinstance(homepage, str) and homepage.startswith(("https://", "http://"))
    return Origin(
        name=str(source.get("pretty_name") or source.get("name") or "unnamed"),
        licence=str(source.get("licence") or "unknown"),
        homepage=homepage if is_address else None,
        notes=tuple(map(str, notes)) if isinstance(notes, list) else (),
    )
