"""Models as they are asked for, and what results call them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from nnd.metric.models.loaded import LoadedModel
from nnd.metric.models.options import Loading
from nnd.metric.models.revisions import split_revision
from nnd.schemas import ScoringError, has_surrogate

Model: TypeAlias = str | Path | LoadedModel


def list_models(models: Model | Sequence[Model]) -> list[Model]:
    """Return the models that were named, of which one needs no list."""
    if isinstance(models, str | Path | LoadedModel) or not isinstance(models, Sequence):
        return [models]
    return list(models)


def name_models(models: Sequence[Model], loading: Loading = Loading()) -> list[str]:
    """Return what results call some models.

    Args:
        models: As they are asked for.
        loading: How those that are not loaded yet will be.

    Raises:
        ScoringError: If there is none, one is not a model, or one is named twice.
    """
    for model in models:
        if not isinstance(model, str | Path | LoadedModel):
            raise ScoringError(
                f"{type(model).__name__}: cannot be evaluated as it is; name a Hub id or a folder, "
                "or hand over nnd.metric.models.wrap_model(model, tokenizer)"
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
        raise ScoringError("there is no model to evaluate; name at least one")
    for name in filter(has_surrogate, names):
        raise ScoringError(f'model "{name}": its name is not UTF-8; rename its folder')
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ScoringError(f'model "{repeated[0]}" is named twice; name each once')
    return names
