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

from nnd.schemas import SourceError

GROUP = "nnd.sources"


def offered_folders(point: EntryPoint) -> dict[str, Path]:
    """Return the source folders of an entry point by its name, or theirs if there are several."""
    module, colon, _ = point.value.partition(":")
    top, *inner = module.strip().split(".")
    if colon or not all(part.isidentifier() for part in (top, *inner)):
        raise SourceError("source.entry-point", "it names no package, such as a.b")
    try:
        spec = find_spec(top)  # looking up a top-level name imports nothing
    except (ImportError, ValueError) as error:
        raise SourceError("source.entry-point", f"{top} cannot be found: {error}") from error
    places = [] if spec is None else spec.submodule_search_locations or []
    if not places:
        raise SourceError("source.entry-point", f"{top} is not an installed package")
    folder = next((path for place in places if (path := Path(place, *inner)).is_dir()), None)
    if folder is None:
        raise SourceError("source.entry-point", f"it has no folder {module}")
    if (folder / "source.yaml").is_file():
        return {point.name: folder}
    found = {path.parent.name: path.parent for path in sorted(folder.glob("*/source.yaml"))}
    if not found:
        raise SourceError(
            "source.entry-point", f"{folder} has no source.yaml, and neither has a folder in it"
        )
    return found
