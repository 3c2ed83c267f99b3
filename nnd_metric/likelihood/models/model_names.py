"""Models as the user names them, their places and revisions, and their names in the results.

Nothing here imports torch.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nnd.metric.likelihood.models.loading import Loading
from nnd.schemas import ScoringError, has_surrogate

if TYPE_CHECKING:
    from nnd.metric.likelihood.models.loaded_model import Model

ADAPTER_CONFIG = "adapter_config.json"
_CONFIG = "config.json"
_HUB_ID = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
_WITH_REVISION = re.compile(r"(?P<name>([\w.-]+/)?[\w.-]+|[\w./-]+\.gguf)@(?P<revision>\S+)")


def list_models(models: "Model | Sequence[Model]") -> "list[Model]":
    """Return a list of the models; a single model needs no list."""
    if isinstance(models, str | Path) or not isinstance(models, Sequence):
        return [models]
    return list(models)


def name_models(models: "Sequence[Model]", loading: Loading = Loading()) -> list[str]:
    """Return the names of models in the results.

    Args:
        models: As given by the user.
        loading: How models are loaded that are not loaded yet.

    Raises:
        ScoringError: If the list is empty, an entry is not a model, or a model is named twice.
    """
    both = [_called(model, loading) for model in models]
    without = [name for name, _ in both]
    names = [name if without.count(name) == 1 else whole for name, whole in both]
    if not names:
        raise ScoringError("no model was given; name at least one")
    for name in filter(has_surrogate, names):
        raise ScoringError(f'model "{name}": the name is not UTF-8; rename the folder')
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ScoringError(f'model "{repeated[0]}" is named twice; name each once')
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(place_of(name), name)
        if other != name:
            raise ScoringError(f'models "{other}" and "{name}" are the same; name each once')
    return names


def _called(model: "Model", loading: Loading) -> tuple[str, str]:
    """Return the name of a model without and with its revision."""
    if isinstance(model, str | Path):
        return loading.called(split_revision(model)[0]), loading.called(str(model))
    from nnd.metric.likelihood.models.loaded_model import (  # noqa: PLC0415 - imports torch
        LoadedModel,
    )

    if not isinstance(model, LoadedModel):
        raise ScoringError(
            f"{type(model).__name__}: not a model that can be evaluated; name a Hub id or a "
            "folder, or pass nnd.metric.likelihood.models.load_model.wrap_model(model, tokenizer)"
        )
    return model.name, model.name


def place_of(model: str) -> str:
    """Return one path for all spellings of a local path, and any other name unchanged.

    Links are not followed: they may be names that somebody gave to models.
    """
    return os.path.abspath(model) if Path(model).exists() else model  # noqa: PTH100 - without `..`


def check_local(model_id: str) -> None:
    """Check that a folder holds a model or an adapter; ids of the Hub are not looked up.

    Args:
        model_id: Hub id or folder, without a revision.

    Raises:
        ScoringError: If it is neither such a folder nor the form of a Hub id.
    """
    path = Path(model_id)
    if path.is_dir():
        if any((path / name).is_file() for name in (_CONFIG, ADAPTER_CONFIG)):
            return
        problem = f"the folder has no {_CONFIG}" if any(path.iterdir()) else "the folder is empty"
    elif path.exists():
        problem = "it is a file, and not a GGUF file"
    elif _HUB_ID.fullmatch(model_id):
        return
    else:
        problem = "folder not found"
    raise ScoringError(
        f"{model_id}: no such model: {problem}; name a Hub id, a folder written by "
        "save_pretrained, or a GGUF file"
    )


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
