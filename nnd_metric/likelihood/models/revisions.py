"""Models named with a revision, as in `gpt2@607a30d`."""

import re
from dataclasses import replace
from pathlib import Path

from huggingface_hub import try_to_load_from_cache

from nnd.metric.likelihood.models.loading import Loading
from nnd.schemas import ScoringError

_WITH_REVISION = re.compile(r"(?P<name>([\w.-]+/)?[\w.-]+|[\w./-]+\.gguf)@(?P<revision>\S+)")


def split_revision(model_id: str | Path) -> tuple[str, str | None]:
    """Split a name into the Hub id or folder, and the revision or None.

    A path that exists is a folder, whatever its name.
    """
    found = _WITH_REVISION.fullmatch(str(model_id))
    if found is None or isinstance(model_id, Path) or Path(model_id).exists():
        return str(model_id), None
    return found["name"], found["revision"]


def resolve_revision(model_id: str | Path, loading: Loading) -> tuple[str, Loading]:
    """Return a Hub id or folder without its revision, and how to load it at that revision.

    Raises:
        ScoringError: If a folder is named with a revision.
    """
    name, revision = split_revision(model_id)
    if revision is None:
        return name, loading
    if Path(name).is_dir():
        raise ScoringError(
            f"{model_id}: {name} is a local folder, and folders have no revisions; leave out "
            f"@{revision}"
        )
    return name, replace(loading, revision=revision)


def find_commit(model_id: str, revision: str | None, file: str = "config.json") -> str | None:
    """Return the Hub commit that a model's configuration was just read from; None for a folder.

    transformers does not report it, but the files are in snapshots/COMMIT of the Hub cache.
    """
    if Path(model_id).exists():
        return None
    path = try_to_load_from_cache(model_id, file, revision=revision)
    return Path(path).parent.name if isinstance(path, str) else None
