"""Read files of a folder or of the Hub, and say in one line why they cannot be read."""

from pathlib import Path

from huggingface_hub.errors import (  # type: ignore[attr-defined]
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
        return path if (path := place / file).is_file() else None
    try:
        found = cached_file(
            str(model_id),
            file,
            revision=revision,
            _raise_exceptions_for_gated_repo=False,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
        )
    except (OSError, ValueError):  # the repository is missing, or its id is not one
        return None
    return None if found is None else Path(found)


def reason_of(error: Exception) -> str:
    """Return the message of another library's error as one short line."""
    return excerpt(" ".join((str(error) or repr(error)).split()), _LONGEST_REASON)


def is_out_of_reach(error: BaseException | None) -> bool:
    """Whether an error means that the Hub could not be reached."""
    while error is not None:
        if isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled):
            return True
        if isinstance(error, HTTPError) and getattr(error, "response", None) is None:
            return True
        error = error.__cause__ or error.__context__
    return False
