"""Read files of a folder or of the Hub, and say in one line why they cannot be read."""

from pathlib import Path
from typing import Any

from huggingface_hub import is_offline_mode
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    HTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
)
from transformers.utils.hub import cached_file

from nnd.schemas import ScoringError, excerpt

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


def read_pretrained(kind: Any, model_id: str, problem: str, options: dict[str, Any]) -> Any:  # noqa: ANN401 - transformers' Auto classes share no type
    """Return the object that an Auto class of transformers loads from a model id or GGUF file.

    Raises:
        ScoringError: If it cannot be loaded; the message begins with the model id and the problem.
    """
    try:
        return kind.from_pretrained(model_id, **options)
    except Exception as error:  # damaged files may raise anything
        model_id = "/".join(filter(None, (model_id, options.get("gguf_file"))))
        if _is_out_of_reach(error):
            raise ScoringError(
                f"{model_id}: not found in the local Hub cache, and the Hub cannot be reached "
                f"({'HF_HUB_OFFLINE is set' if is_offline_mode() else 'no connection'}); go "
                "online once, or name a folder written by save_pretrained"
            ) from error
        raise ScoringError(
            f"{model_id}: {problem}: {reason_of(error)} "
            "(name a Hub id or a folder written by save_pretrained)"
        ) from error


def _is_out_of_reach(error: BaseException | None) -> bool:
    """Whether an error means that the Hub could not be reached."""
    while error is not None:
        if isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled):
            return True
        if isinstance(error, HTTPError) and getattr(error, "response", None) is None:
            return True
        error = error.__cause__ or error.__context__
    return False
