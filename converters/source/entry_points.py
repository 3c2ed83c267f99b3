"""Sources of installed packages, found by the entry point group `nnd.sources`.

In the package's pyproject.toml:

    [project.entry-points."nnd.sources"]
    birds = "bird_judgements.nnd"

The value names a package whose folder holds a source.yaml, or several folders with one. None of its
modules is imported, neither to list its sources nor to convert one: the installed top-level package
is looked up, and the rest of the dotted name is a path of folders in it.
"""

from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

GROUP = "nnd.sources"


class BrokenError(Exception):
    """An entry point does not lead to a source."""


def offered_folders(point: EntryPoint) -> dict[str, Path]:
    """Return the source folders of an entry point by its name, or theirs if there are several."""
    folder = _folder(point)
    if (folder / "source.yaml").is_file():
        return {point.name: folder}
    inner = {path.parent.name: path.parent for path in sorted(folder.glob("*/source.yaml"))}
    if not inner:
        raise BrokenError(f"{folder} has no source.yaml, and neither has a folder in it")
    return inner


def _folder(point: EntryPoint) -> Path:
    module, colon, _ = point.value.partition(":")
    parts = module.strip().split(".")
    if colon or not all(part.isidentifier() for part in parts):
        raise BrokenError("name a package, such as a.b, and nothing inside it")
    try:
        spec = find_spec(parts[0])  # looking up a top-level name imports nothing
    except (ImportError, ValueError) as error:
        raise BrokenError(f"{parts[0]} cannot be found: {error}") from error
    places = [] if spec is None else spec.submodule_search_locations or []
    for place in places:
        folder = Path(place, *parts[1:])
        if folder.is_dir():
            return folder
    raise BrokenError(
        f"{parts[0]} is not an installed package" if not places else f"it has no folder {module}"
    )
