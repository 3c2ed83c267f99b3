"""What people call data: a path, a dataset on the Hub, or a built-in source by its name."""

from difflib import get_close_matches
from pathlib import Path

from nnd.schemas import MANIFEST, ScoringError, nnd_version, read_manifest

_OF_OTHERS = ("/", "\\", ".", "@")


def find_data(name: str) -> tuple[str, str | None]:
    """Return the data that a name stands for, and a line about it where that is no path.

    A built-in source is converted into the cache, once for each version of nnd.

    Args:
        name: A path, which wins; `ORG/name[@revision]` on the Hub; or the name of a built-in
            source.

    Raises:
        NNDError: If the source cannot be converted, or nothing has that name.
    """
    if Path(name).exists() or any(mark in name for mark in _OF_OTHERS):
        return name, None
    from nnd.converters.source import sources

    built_in = [entry["name"] for entry in sources().entries() if entry["distribution"] is None]
    if name not in built_in:
        meant = get_close_matches(name, built_in, 1)
        raise ScoringError(
            f"{name}: there is no such file, folder or built-in source"
            + (f"; did you mean {meant[0]}?" if meant else "; `nnd sources` lists the sources")
        )
    folder = _converted(name)
    return str(folder), f"{name}: the built-in source, converted into {folder}"


def _converted(name: str) -> Path:
    from nnd.converters.folder import convert
    from nnd.metric.engine import default_store

    folder = default_store().parent / "converted" / name
    if not (folder / MANIFEST).is_file() or read_manifest(folder)["nnd_version"] != nnd_version():
        convert(name, out=folder)
    return folder
