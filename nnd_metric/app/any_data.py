"""Data as users name it: a path, a dataset on the Hub, or a built-in source."""

import sys
from pathlib import Path

from nnd.schemas import ScoringError

_OF_OTHERS = ("/", "\\", ".", "@")


def find_data(name: str, set_name: str | None = None) -> str:
    """Return the path or Hub id for a name; say on stderr how a bare name is understood.

    A built-in source is converted into the cache, once for each version of nnd.

    Args:
        name: A path, which takes precedence; `ORG/name[@revision]` on the Hub; or the name of a
            built-in source. Any other name is returned unchanged: its reader raises the error.
        set_name: One of the sets of a built-in source, or None for the main one.

    Raises:
        NNDError: If the source cannot be converted, or the name looks like a misspelt source; or if
            a set is asked for of anything else.
    """
    found = _find(name, set_name)
    if set_name is not None and found == name:
        raise ScoringError(
            "option.conflict",
            "only built-in sources have sets",
            name,
            f"leave out --set {set_name}",
        )
    return found


def _find(name: str, set_name: str | None) -> str:
    if any(mark in name for mark in _OF_OTHERS):
        return name
    from nnd.converters.source import built_in_names
    from nnd.schemas import did_you_mean

    built_in = built_in_names()
    if Path(name).exists():
        if name in built_in:
            print(
                f"{name}: using the folder of this name in the working folder, without "
                "converting again",
                file=sys.stderr,
            )
        return name
    if name in built_in:
        folder = _converted(name, set_name)
        print(f"{name}: using the built-in source, converted into {folder}", file=sys.stderr)
        return str(folder)
    if meant := did_you_mean(name, built_in):
        raise ScoringError(
            "file.not-found",
            f"file, folder or built-in source not found{meant}",
            name,
            "see `nnd sources`, or name a file or folder that exists",
        )
    return name


def _converted(name: str, set_name: str | None) -> Path:
    from nnd.converters.folder import convert
    from nnd.schemas import MANIFEST, SourceError, cache_folder, nnd_version, read_manifest

    called = name if set_name is None else f"{name}-{set_name.replace('/', '-')}"
    folder = cache_folder() / "converted" / called
    if not (folder / MANIFEST).is_file() or read_manifest(folder)["nnd_version"] != nnd_version():
        try:
            convert(name, out=folder, set_name=set_name)
        except SourceError as error:
            remedy = error.remedy
            if error.code in ("source.cannot-fetch", "source.another-file"):
                chosen = "" if set_name is None else f" --set {set_name}"
                convert_it = f"nnd convert {name}{chosen} --out FOLDER"
                remedy = f"name the FOLDER of `{convert_it}` ({remedy})"
            raise SourceError(error.code, error.what, error.where, remedy) from error
    return folder
