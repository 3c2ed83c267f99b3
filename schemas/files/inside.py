"""What a stranger's file names: only files inside the folder that it came in.

Index files, configurations, cards and lists of a dataset or a model name other files. Nobody else
decides what is read on this machine, so such a name is never joined to a folder in another way.
"""

import os
import re
from pathlib import Path, PureWindowsPath

from nnd.schemas.words.errors import NNDError
from nnd.schemas.words.texts import excerpt

_REPOSITORY = re.compile(r"(?:datasets|models|spaces)--.+")
_LONGEST_NAME = 200


def is_inside(name: object) -> bool:
    """Whether a name, or a pattern of names, is a relative path that never goes upwards.

    Absolute paths, paths of Windows, `~` and URLs, chained ones included, are not.
    """
    if not isinstance(name, str) or not name.strip() or "\0" in name or name.startswith("~"):
        return False
    path = PureWindowsPath(name)  # splits at / and at \
    return not (path.anchor or ".." in path.parts or "://" in name or "::" in name)


def leads_out(folder: Path, path: Path) -> bool:
    """Whether a path in a snapshot of the Hub's cache is a link out of its repository there.

    Links into the `blobs` of the repository are how that cache works. A folder that somebody names
    elsewhere may have links of its owner.
    """
    repository = _repository(folder)
    if repository is None:
        return False
    target = Path(os.path.realpath(path))
    homes = (repository, repository / "blobs")  # either may be a link of the owner
    return not any(target.is_relative_to(os.path.realpath(home)) for home in homes)


def path_inside(
    folder: Path, name: object, where: object, family: type[NNDError] = NNDError
) -> Path:
    """Return the path of the file in a folder that a stranger's file, `where`, names.

    Raises:
        NNDError: If the name leads out of the folder; the type of the error is `family`.
    """
    if not is_inside(name) or leads_out(folder, folder / str(name)):
        raise outside(name, where, family)
    return folder / str(name)


def outside(name: object, where: object, family: type[NNDError] = NNDError) -> NNDError:
    """Return the error for a name that leads out of its folder."""
    named = excerpt(str(name), _LONGEST_NAME)
    what = f'it names "{named}", which is not a file inside its own folder'
    return family("file.leads-outside", what, where)


def _repository(folder: Path) -> Path | None:
    """Return the folder of a repository in the Hub's cache that has a snapshot, or None."""
    for parent in (folder, *folder.parents):
        home = parent.parent.parent
        if parent.parent.name == "snapshots" and _REPOSITORY.fullmatch(home.name):
            return home
    return None
