"""How much of a model has still to be downloaded, found without downloading it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from nnd.metric.likelihood import Loading, resolve_revision, split_gguf

_FORMATS = (
    r"model(-\d+-of-\d+)?\.safetensors",
    r"pytorch_model(-\d+-of-\d+)?\.bin",
    r"adapter_model\.(safetensors|bin)",
)
"""Names of the files of weights, in the order in which transformers prefers them."""

_FIRST = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "adapter_model.safetensors",
    "adapter_model.bin",
)
"""Files of which one is in the Hub cache if the weights are."""

_PATIENCE_S = 10.0


class Download(NamedTuple):
    """What has to be downloaded of a model's weights.

    Attributes:
        bytes: Their size; 0 if they are here, None if it is not known.
        source: Who says so: this machine, the Hub, or the list of runs; None if unknown.
    """

    bytes: int | None
    source: Literal["here", "hub", "list"] | None = None


def find_downloads(
    models: Iterable[tuple[str, Loading]], stated: Mapping[str, float]
) -> dict[str, Download]:
    """Return model → what has to be downloaded of it.

    The Hub is asked for the sizes of files, until it once does not answer.

    Args:
        models: Hub ids, NAME@REVISION, or folders, and how they would be loaded.
        stated: Model → size in GB, where the Hub does not answer.
    """
    found: dict[str, Download] = {}
    is_reached = True
    for model, loading in models:
        name, pinned = resolve_revision(model, loading)
        repo, file = split_gguf(name)
        if Path(name).exists() or _is_cached(repo, file, pinned.revision):
            found[model] = Download(0, "here")
            continue
        size = None
        if is_reached:
            size, is_reached = _ask_hub(repo, file, pinned.revision)
        if size is not None:
            found[model] = Download(size, "hub")
        elif model in stated:
            found[model] = Download(round(stated[model] * 1e9), "list")
        else:
            found[model] = Download(None)
    return found


def size_of_weights(files: Sequence[tuple[str, int | None]], file: str | None) -> int | None:
    """Return the size of the files that are read of a repository, or None if it is not known.

    `files` are names and sizes; `file` is the GGUF file to read, or None for weights that
    transformers reads.
    """
    patterns = _FORMATS if file is None else (re.escape(file),)
    for pattern in patterns:
        sizes = [size for name, size in files if re.fullmatch(pattern, name)]
        if sizes:
            return None if None in sizes else sum(filter(None, sizes))
    return None


def _is_cached(repo: str, file: str | None, revision: str | None) -> bool:
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415 - slow to import
    from huggingface_hub.errors import HFValidationError  # noqa: PLC0415

    try:
        names = _FIRST if file is None else (file,)
        found = (try_to_load_from_cache(repo, name, revision=revision) for name in names)
        return any(isinstance(path, str) for path in found)
    except HFValidationError:  # no Hub id
        return False


def _ask_hub(repo: str, file: str | None, revision: str | None) -> tuple[int | None, bool]:
    """Return the size on the Hub, or None, and whether the Hub answered."""
    from huggingface_hub import HfApi, constants  # noqa: PLC0415 - slow to import
    from huggingface_hub.errors import (  # type: ignore[attr-defined]  # noqa: PLC0415
        HFValidationError,
        HTTPError,
    )

    if constants.is_offline_mode():
        return None, False
    try:
        info = HfApi().model_info(repo, revision=revision, files_metadata=True, timeout=_PATIENCE_S)
    except HFValidationError:
        return None, True
    except HTTPError as error:  # one without a response: the Hub was not reached
        return None, getattr(error, "response", None) is not None
    except OSError:
        return None, False
    files = [(each.rfilename, each.size) for each in info.siblings or ()]
    return size_of_weights(files, file), True
