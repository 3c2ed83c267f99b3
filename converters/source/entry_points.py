"""Sources of installed packages, found by the entry point group `nnd.sources`.

In the package's pyproject.toml:

    [project.entry-points."nnd.sources"]
    birds = "bird_judgements.nnd"

The value names a package whose folder holds a source.yaml, or several folders with one. None of its
modules is imported, neither to list its sources nor to convert one: the installed top-level package
is looked up, and the rest of the dotted name is a path of folders in it.
"""

from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

GROUP = "nnd.sources"


class OfferedFolder(NamedTuple):
    """A source folder that a package offers."""

    name: str  # name of the entry point, or of the folder if the package holds several
    distribution: str  # name and version of the distribution that offers it
    folder: Path | None  # the source folder; None if the entry point does not lead to one
    # What is wrong with the entry point, and what to do about it; None if it is fine.
    problem: str | None


def offered_folders() -> list[OfferedFolder]:
    """Return the source folders of installed packages, by name; broken entry points included."""
    found: list[OfferedFolder] = []
    for point in entry_points(group=GROUP):
        owner = "?" if point.dist is None else f"{point.dist.name} {point.dist.version}"
        try:
            folders = _folders(point)
        except (_BrokenError, OSError) as error:
            problem = (
                f'entry point {point.name} = "{point.value}" of {owner}: {error}; fix the package, '
                "or uninstall it"
            )
            found.append(OfferedFolder(point.name, owner, None, problem))
        else:
            found += (OfferedFolder(name, owner, each, None) for name, each in folders.items())
    return sorted(found, key=lambda offered: (offered.name, offered.distribution))


class _BrokenError(Exception):
    """An entry point does not lead to a source."""


def _folders(point: EntryPoint) -> dict[str, Path]:
    folder = _folder(point)
    if (folder / "source.yaml").is_file():
        return {point.name: folder}
    inner = {path.parent.name: path.parent for path in sorted(folder.glob("*/source.yaml"))}
    if not inner:
        raise _BrokenError(f"{folder} has no source.yaml, and neither has a folder in it")
    return inner


def _folder(point: EntryPoint) -> Path:
    module, colon, _ = point.value.partition(":")
    parts = module.strip().split(".")
    if colon or not all(part.isidentifier() for part in parts):
        raise _BrokenError("name a package, such as a.b, and nothing inside it")
    try:
        spec = find_spec(parts[0])  # looking up a top-level name imports nothing
    except (ImportError, ValueError) as error:
        raise _BrokenError(f"{parts[0]} cannot be found: {error}") from error
    places = [] if spec is None else spec.submodule_search_locations or []
    for place in places:
        folder = Path(place, *parts[1:])
        if folder.is_dir():
            return folder
    raise _BrokenError(
        f"{parts[0]} is not an installed package" if not places else f"it has no folder {module}"
    )
