"""Where a model is: a folder or an id of the Hub, and its revision; found without torch."""

import os
import re
from dataclasses import replace
from pathlib import Path

from nnd.metric.likelihood.models.loading import Loading
from nnd.metric.likelihood.models.other_formats import check_folder
from nnd.schemas import ScoringError

ADAPTER_CONFIG = "adapter_config.json"
_CONFIG = "config.json"
_GGUF, _HUB_ID_PARTS = ".gguf", 2
_HUB_ID = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
_WITH_REVISION = re.compile(r"(?P<name>([\w.-]+/)?[\w.-]+|[\w./-]+\.gguf)@(?P<revision>\S+)")


def place_of(model: str) -> str:
    """Return one path for all spellings of a local path, and any other name unchanged.

    Links are not followed: they may be names that somebody gave to models.
    """
    return os.path.abspath(model) if Path(model).exists() else model  # noqa: PTH100 - without `..`


def split_gguf(model_id: str) -> tuple[str, str | None]:
    """Return the folder or Hub id that a GGUF file is in, and its name there.

    If it is not a GGUF file, return the id unchanged, and None.
    """
    path = Path(model_id)
    if path.suffix.lower() != _GGUF or path.is_dir():
        return model_id, None
    parts = model_id.split("/")
    if path.exists() or len(parts) <= _HUB_ID_PARTS or path.is_absolute():
        return str(path.parent), path.name
    return "/".join(parts[:_HUB_ID_PARTS]), "/".join(parts[_HUB_ID_PARTS:])


def check_local(model_id: str) -> None:
    """Check that a folder holds a model or an adapter; ids of the Hub are not looked up.

    Raises ScoringError if `model_id` is neither such a folder nor has the form of a Hub id without
    a revision, or if the folder has only weights that are not read.
    """
    path = Path(model_id)
    if path.is_dir():
        if any((path / name).is_file() for name in (_CONFIG, ADAPTER_CONFIG)):
            return
        check_folder(path)
        problem = f"the folder has no {_CONFIG}" if any(path.iterdir()) else "the folder is empty"
    elif path.exists():
        problem = "it is a file, and not a GGUF file"
    elif _HUB_ID.fullmatch(model_id):
        return
    else:
        problem = "folder not found"
    raise ScoringError(
        "model.unknown",
        f"no such model: {problem}",
        model_id,
        "name a Hub id, a folder written by save_pretrained, or a GGUF file",
    )


def is_hub_id(name: object) -> bool:
    """Whether a name has the form of a Hub id and is not that of a local folder."""
    return isinstance(name, str) and bool(_HUB_ID.fullmatch(name)) and not Path(name).exists()


def split_revision(model_id: str | Path) -> tuple[str, str | None]:
    """Split a name into the Hub id or folder, and the revision or None.

    A path that exists is a folder, whatever its name.
    """
    match = _WITH_REVISION.fullmatch(str(model_id))
    if match is None or isinstance(model_id, Path) or Path(model_id).exists():
        return str(model_id), None
    return match["name"], match["revision"]


def resolve_revision(model_id: str | Path, loading: Loading) -> tuple[str, Loading]:
    """Return a Hub id or folder without its revision, and how to load it at that revision.

    Raises ScoringError if a folder is named with a revision.
    """
    name, revision = split_revision(model_id)
    if revision is None:
        return name, loading
    if Path(name).is_dir():
        raise ScoringError(
            "option.conflict",
            f"{name} is a local folder, and folders have no revisions",
            model_id,
            f"leave out @{revision}",
        )
    return name, replace(loading, revision=revision)
