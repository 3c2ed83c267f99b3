"""Read files of a folder or of the Hub, and say in one line why they cannot be read."""

from collections.abc import Iterator
from pathlib import Path

from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    GatedRepoError,
    HTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
)
from transformers.utils.hub import cached_file

from nnd.schemas import excerpt

_LONGEST_REASON = 200


def find_file(model_id: str | Path, file: str, revision: str | None) -> Path | None:
    """Return the path of a file in a folder or a Hub repository (downloaded), or None.

    What exists here is never looked up on the Hub.
    """
    place = Path(model_id)
    if place.exists():
        return place / file if (place / file).is_file() else None
    try:
        path = cached_file(
            str(model_id),
            file,
            revision=revision,
            _raise_exceptions_for_gated_repo=False,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
        )
    except (OSError, ValueError):  # the repository is missing, or its id is not one
        return None
    return None if path is None else Path(path)


def reason_of(error: Exception) -> str:
    """Return the message of another library's error as one short line."""
    return excerpt(" ".join((str(error) or repr(error)).split()), _LONGEST_REASON)


def is_out_of_reach(error: BaseException) -> bool:
    """Whether an error means that the Hub could not be reached."""
    return any(
        isinstance(each, LocalEntryNotFoundError | OfflineModeIsEnabled)
        or (isinstance(each, HTTPError) and getattr(each, "response", None) is None)
        for each in _causes(error)
    )


def is_gated(error: BaseException) -> bool:
    """Whether an error means that the Hub wants to know who asks."""
    return any(isinstance(each, GatedRepoError) for each in _causes(error))


def needs_custom_code(error: BaseException) -> bool:
    """Whether transformers refuses to run code of a repository, which only its text says."""
    return any("`trust_remote_code=True`" in str(each) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def find_commit(model_id: str, revision: str | None, file: str = "config.json") -> str | None:
    """Return the Hub commit that a model's configuration was just read from; None for a folder.

    transformers does not report it, but the files are in snapshots/COMMIT of the Hub cache.
    """
    if Path(model_id).exists():
        return None
    path = try_to_load_from_cache(model_id, file, revision=revision)
    return Path(path).parent.name if isinstance(path, str) else None
