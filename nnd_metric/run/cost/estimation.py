"""What an evaluation would cost, before any weights are loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nnd.metric.data import PairSet, is_several, name_datasets
from nnd.metric.likelihood import (
    LoadedModel,
    Loading,
    Model,
    Scoring,
    Skeleton,
    bytes_per_position,
    choose_budget,
    list_models,
    load_skeleton,
    name_models,
    scoring_of_each,
)
from nnd.metric.run.asked_pairs import Dataset, read_asked
from nnd.metric.run.cost.estimate import Estimate, ModelEstimate
from nnd.metric.run.cost.measured_speeds import known_speed
from nnd.metric.run.cost.model_needs import find_needs
from nnd.metric.run.survival import Trouble


def estimate(
    models: Model | Sequence[Model],
    data: Any,  # noqa: ANN401 - as of `evaluate`
    *,
    templates: Mapping[str, str] | None = None,
    splits: Sequence[str] = (),
    limit: int | None = None,
    categories: Sequence[str] = (),
    held_out: float | None = None,
    split_seed: int = 0,
    scoring: Scoring = Scoring(),
    loading: Loading = Loading(),
) -> Estimate:
    """Return what `evaluate` would cost: tokens, floating-point operations, memory and time.

    Only configurations and tokenizers are loaded, never weights, and nothing is written. The tokens
    are those that enter the models on their fastest path: each context once, each candidate once
    after each of its contexts, and, for the baseline, each candidate once without a context. The
    time is estimated from the speed of earlier runs on this device; it is None if there are none.

    Args:
        models: Same as in `evaluate`.
        data: Same as in `evaluate`.
        templates: Same as in `evaluate`.
        splits: Same as in `evaluate`.
        limit: Same as in `evaluate`.
        categories: Same as in `evaluate`.
        held_out: Same as in `evaluate`.
        split_seed: Same as in `evaluate`.
        scoring: Same as in `evaluate`.
        loading: Same as in `evaluate`.

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
        splits=splits,
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
        notes.append(f"the adapter {loaded.adapted.name} is left out of the estimate.")
    speed = known_speed(loaded)
    return ModelEstimate(
        name,
        str(loaded.device),
        loaded.dtype,
        loaded.parameters,
        loaded.weight_bytes,
        budget * bytes_per_position(loaded),
        speed,
        dict(find_needs(loaded, pairs, scoring, speed)),
        tuple(notes),
    )
