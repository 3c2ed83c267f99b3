"""What an evaluation would cost, before any weights are loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from nnd.metric.data import PairSet
from nnd.metric.likelihood import Loading, Model, Scoring
from nnd.metric.run.cost.estimate import Estimate, ModelEstimate, model_estimate
from nnd.metric.run.cost.measured_speeds import known_speed
from nnd.metric.run.cost.model_needs import find_needs
from nnd.metric.run.cost.stored_outlines import stored_outline
from nnd.metric.run.run_request import RunOptions, RunRequest, with_run_options
from nnd.metric.run.survival import Trouble


@with_run_options
def estimate(
    models: Model | Sequence[Model],
    data: Any,  # noqa: ANN401 - as of `evaluate`
    **options: Unpack[RunOptions],
) -> Estimate:
    """Estimate tokens, operations, memory and time of `evaluate`.

    Only configurations and tokenizers are loaded, never weights, and nothing is written. The tokens
    are those that enter the models on their fastest path: each context once, each candidate once
    after each of its contexts, and, for the baseline, each candidate once without a context. The
    time is estimated from the operations per second of an earlier run of the model on this device,
    or else of a small model with its shapes, which is tried for a third of a second.

    Args:
        models: Models, as in `evaluate`.
        data: What would be scored. In Python, pairs, or a list of several datasets.
        **options: The other fields of `RunRequest`.

    Raises:
        ScoringError: If data, a model or an option cannot be used; the message says which and why.
    """
    request = RunRequest(models, data, **options)
    scorings, pairs = request.scorings(), request.read_pairs(Trouble(fatal=True))
    return Estimate(
        tuple(
            _of_model(name, model, pairs, scorings[name], request.loading)
            for name, model in request.named_models().items()
        )
    )


def _of_model(
    name: str, model: Model, pairs: Mapping[str, PairSet], scoring: Scoring, loading: Loading
) -> ModelEstimate:
    stored = stored_outline(name, model, loading)
    speed = None if stored is None else known_speed(stored.outline.speed_key)
    if stored is None or speed is None:
        return _of_skeleton(name, model, pairs, scoring, loading)
    stored = stored.with_budget(scoring.token_budget)
    needs = {dataset: need for dataset, need, _ in find_needs(stored, pairs, scoring)}
    return model_estimate(name, stored.outline, needs, speed, is_measured=True)


def _of_skeleton(
    name: str, model: Model, pairs: Mapping[str, PairSet], scoring: Scoring, loading: Loading
) -> ModelEstimate:
    """Return the estimate of a model that no run has outlined; this loads torch."""
    from nnd.metric.likelihood import (  # noqa: PLC0415
        LoadedModel,
        Skeleton,
        load_skeleton,
    )
    from nnd.metric.run.cost.outlining import outline_of  # noqa: PLC0415
    from nnd.metric.run.cost.probe import probe_speed  # noqa: PLC0415

    loaded = model if isinstance(model, LoadedModel) else load_skeleton(model, loading)
    loaded = replace(loaded, name=name)
    outlined = outline_of(loaded).with_budget(scoring.token_budget)
    outline = outlined.outline
    found = list(find_needs(outlined, pairs, scoring))
    measured = known_speed(outline.speed_key)
    sample = next((rows for _, _, rows in found if rows), [])
    speed = probe_speed(loaded, sample, outline.budget) if measured is None else measured
    notes = []
    if loaded.is_compressed:
        notes.append(f"quantised as {loaded.quantised}, its weights take less memory than this.")
    if loaded.adapted is not None and isinstance(loaded, Skeleton):
        notes.append(f"the adapter {loaded.adapted.name} is left out of the estimate.")
    needs = {dataset: need for dataset, need, _ in found}
    estimated = model_estimate(name, outline, needs, speed, is_measured=measured is not None)
    return replace(estimated, notes=tuple(notes))
