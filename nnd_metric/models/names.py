"""Models as the user names them, and their names in the results."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from nnd.metric.models.loaded import LoadedModel
from nnd.metric.models.options import Loading
from nnd.metric.models.revisions import split_revision
from nnd.schemas import ScoringError, has_surrogate

Model: TypeAlias = str | Path | LoadedModel


def list_models(models: Model | Sequence[Model]) -> list[Model]:
    """Return a list of the models; a single model needs no list."""
    if isinstance(models, str | Path | LoadedModel) or not isinstance(models, Sequence):
        return [models]
    return list(models)


def name_models(models: Sequence[Model], loading: Loading = Loading()) -> list[str]:
    """Return the names of models in the results.

    Args:
        models: As given by the user.
        loading: How models are loaded that are not loaded yet.

    Raises:
        ScoringError: If the list is empty, an entry is not a model, or a model is named twice.
    """
    for model in models:
        if not isinstance(model, str | Path | LoadedModel):
            raise ScoringError(
                f"{type(model).__name__}: not a model that can be evaluated; name a Hub id or a "
                "folder, or pass nnd.metric.models.wrap_model(model, tokenizer)"
            )
    asked = [
        model.name if isinstance(model, LoadedModel) else loading.called(str(model))
        for model in models
    ]
    without = [
        model.name if isinstance(model, LoadedModel) else loading.called(split_revision(model)[0])
        for model in models
    ]
    names = [
        name if without.count(name) == 1 else whole
        for name, whole in zip(without, asked, strict=True)
    ]
    if not names:
        raise ScoringError("no model was given; name at least one")
    for name in filter(has_surrogate, names):
        raise ScoringError(f'model "{name}": the name is not UTF-8; rename the folder')
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ScoringError(f'model "{repeated[0]}" is named twice; name each once')
    return names
