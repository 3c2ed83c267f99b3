"""Models as the user names them, and their names in the results."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nnd.metric.likelihood.models.loading import Loading
from nnd.metric.likelihood.models.model_places import place_of, split_revision
from nnd.schemas import ScoringError, has_surrogate

if TYPE_CHECKING:
    from nnd.metric.likelihood.models.loaded_model import LoadedModel

    Model: TypeAlias = str | Path | LoadedModel
else:
    Model = str | Path | Any  # hints can be read without torch, which a loaded model needs


def list_models(models: Model | Sequence[Model]) -> list[Model]:
    """Return a list of the models; a single model needs no list."""
    if isinstance(models, str | Path) or not isinstance(models, Sequence):
        return [models]
    return list(models)


def name_models(models: Sequence[Model], loading: Loading = Loading()) -> list[str]:
    """Return the names of models in the results; `loading` is for those that are not loaded yet.

    Raises ScoringError if there is no model, an entry is not a model, or a model is named twice.
    """
    both = [_called(model, loading) for model in models]
    without = [name for name, _ in both]
    names = [name if without.count(name) == 1 else whole for name, whole in both]
    if not names:
        raise ScoringError("input.missing", "no model was given")
    for name in filter(has_surrogate, names):
        raise ScoringError(
            "option.bad-value", "the name is not UTF-8", f'model "{name}"', "rename the folder"
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ScoringError("name.twice", f'model "{repeated[0]}" is named twice')
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(place_of(name), name)
        if other != name:
            raise ScoringError("name.twice", f'models "{other}" and "{name}" are the same')
    return names


def _called(model: Model, loading: Loading) -> tuple[str, str]:
    """Return the name of a model without and with its revision."""
    if isinstance(model, str | Path):
        return loading.called(split_revision(model)[0]), loading.called(str(model))
    from nnd.metric.likelihood.models.loaded_model import (  # noqa: PLC0415 - imports torch
        LoadedModel,
    )

    if not isinstance(model, LoadedModel):
        raise ScoringError(
            "model.unknown",
            "not a model that can be evaluated",
            type(model).__name__,
            "name a Hub id or a folder, or pass "
            "nnd.metric.likelihood.models.load_model.wrap_model(model, tokenizer)",
        )
    return model.name, model.name
