"""What an evaluation would cost, before any weights are loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nnd.metric.asked_pairs import Dataset, read_asked
from nnd.metric.cost import Estimate, ModelEstimate, find_needs, known_speed
from nnd.metric.data import PairSet, is_several, name_datasets
from nnd.metric.engine import Scoring, bytes_per_position, choose_budget, scoring_of_each
from nnd.metric.models import (
    LoadedModel,
    Loading,
    Model,
    Skeleton,
    list_models,
    load_skeleton,
    name_models,
)
from nnd.metric.trouble import Trouble


def estimate(
    models: Model | Sequence[Model],
    data: Any,  # noqa: ANN401 - as of `evaluate`
    *,
    templates: Mapping[str, str] | None = None,
    limit: int | None = None,
    categories: Sequence[str] = (),
    held_out: float | None = None,
    split_seed: int = 0,
    scoring: Scoring = Scoring(),
    loading: Loading = Loading(),
) -> Estimate:
    """Return what `evaluate` would cost: tokens, floating-point operations, memory and time.

    Only configurations and tokenizers are loaded, never weights, and nothing is written. Tokens are
    those that enter the models on their fastest path: each context once, each candidate once behind
    each of its contexts, and, for the baseline, each candidate once without any. The time is that
    of earlier runs on this device, per token; where none was measured, it is None.

    Args:
        models: As of `evaluate`.
        data: As of `evaluate`.
        templates: As of `evaluate`.
        limit: As of `evaluate`.
        categories: As of `evaluate`.
        held_out: As of `evaluate`.
        split_seed: As of `evaluate`.
        scoring: As of `evaluate`.
        loading: As of `evaluate`.

    Raises:
        ScoringError: If data, a model or an option cannot be used; the message says which and why.
    """
    asked = list_models(models)
    datasets: list[Dataset] = list(data) if is_several(data) else [data]
    names = name_models(asked, loading)
    scorings = scoring_of_each(names, scoring, templates or {})
    pairs = read_asked(
        name_datasets(datasets),
        datasets,
        Trouble(fatal=True),
        limit=limit,
        categories=categories,
        held_out=held_out,
        split_seed=split_seed,
    )
    return Estimate(
        tuple(
            _of_model(name, model, pairs, scorings[name], loading)
            for name, model in zip(names, asked, strict=True)
        )
    )


def _of_model(
    name: str, model: Model, pairs: Mapping[str, PairSet], scoring: Scoring, loading: Loading
) -> ModelEstimate:
    loaded = model if isinstance(model, LoadedModel) else load_skeleton(model, loading)
    loaded = replace(loaded, name=name)
    budget = scoring.token_budget or choose_budget(loaded)
    notes = []
    if loaded.quantised is not None:
        notes.append(f"quantised as {loaded.quantised}, its weights take less memory than this.")
    if loaded.adapted is not None and isinstance(loaded, Skeleton):
        notes.append(f"the adapter {loaded.adapted.adapter} is left out of the estimate.")
    return ModelEstimate(
        name,
        str(loaded.device),
        loaded.dtype,
        loaded.parameters,
        loaded.weight_bytes,
        budget * bytes_per_position(loaded),
        dict(find_needs(loaded, pairs, scoring)),
        known_speed(loaded),
        tuple(notes),
    )
