"""The built-in lists of runs: experiments of papers, with what was published beside each entry."""

from pathlib import Path

from nnd.schemas import ScoringError, did_you_mean

_FOLDER = Path(__file__).parent / "built_in"


def find_built_in(name: str) -> Path:
    """Return the file of a built-in list; raise ScoringError if there is none of this name."""
    files = {path.stem: path for path in sorted(_FOLDER.glob("*.yaml"))}
    if name not in files:
        raise ScoringError(
            "name.unknown",
            f"unknown list of runs{did_you_mean(name, files)}; the built-in ones are "
            f"{', '.join(files)}",
            name,
            "name a file of your own with its suffix, such as runs.yaml",
        )
    return files[name]
