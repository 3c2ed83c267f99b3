"""Score models one after the other; only one of them is loaded at a time."""

import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import NamedTuple, NoReturn

from tqdm import tqdm

from nnd.metric.data import PairSet
from nnd.metric.likelihood import (
    LoadedModel,
    Loading,
    Model,
    Scoring,
    Store,
    default_store,
    load_model,
    pin_version,
)
from nnd.metric.run.cost.measured_speeds import keep_speed
from nnd.metric.run.model_result import ScoredModel, evaluate_model
from nnd.metric.run.survival import Trouble
from nnd.schemas import ScoringWarning


class ScoringTask(NamedTuple):
    """Models, and the pairs that each of them scores.

    Attributes:
        models: Name → model.
        pairs: Dataset → its pairs.
        scorings: Name of a model → its scoring options.
        loading: Loading options of all models.
        trouble: Records the failures.
    """

    models: Mapping[str, Model]
    pairs: Mapping[str, PairSet]
    scorings: Mapping[str, Scoring]
    loading: Loading
    trouble: Trouble


def score_in_turn(task: ScoringTask) -> Generator[tuple[str, ScoredModel]]:
    """Score every model on every dataset, in order; yield datasets with the scores of one model."""
    is_stored = any(scoring.cache for scoring in task.scorings.values())
    runs = len(task.models) * len(task.pairs)
    bar = tqdm(total=runs, unit="run", disable=None if runs > 1 else True, leave=False)
    with _open_store() if is_stored else nullcontext() as store, bar:
        for number, (name, model) in enumerate(task.models.items(), start=1):
            bar.set_description(f"{name} ({number} of {len(task.models)})")
            with task.trouble.survived(name, None):
                # No variable holds a model after its turn: two may not fit into memory.
                yield from _score_all(
                    _load(model, name, task.loading, remember=store is not None),
                    task,
                    partial(_score_one, scoring=task.scorings[name], store=store),
                    bar,
                )


def _load(model: Model, name: str, loading: Loading, *, remember: bool) -> LoadedModel:
    """Load a model, and hash its weights once for all datasets, or (`remember`) for later runs."""
    if isinstance(model, LoadedModel):  # its weights may have changed since it was loaded
        return pin_version(model, remember=False)
    return pin_version(replace(load_model(model, loading), name=name), remember=remember)


def _score_all(
    loaded: LoadedModel,
    task: ScoringTask,
    score: Callable[[LoadedModel, PairSet], ScoredModel],
    bar: "tqdm[NoReturn]",
) -> Iterator[tuple[str, ScoredModel]]:
    for number, (key, data) in enumerate(task.pairs.items(), start=1):
        if len(task.pairs) > 1:
            bar.set_postfix_str(f"{key} ({number} of {len(task.pairs)})")
        with task.trouble.survived(loaded.name, key):
            yield key, score(loaded, data)
        bar.update()


def _score_one(
    loaded: LoadedModel, pairs: PairSet, *, scoring: Scoring, store: Store | None
) -> ScoredModel:
    """Score pairs with one model; record its speed if there is a store."""
    start = time.perf_counter()
    scored = evaluate_model(loaded, pairs, scoring, store)
    if store is not None:
        keep_speed(loaded, scored.result.work.tokens, time.perf_counter() - start)
    return scored


@contextmanager
def _open_store() -> Iterator[Store | None]:
    warn = partial(warnings.warn, category=ScoringWarning, stacklevel=2)
    try:
        path = default_store()
    except RuntimeError:  # a user without a home folder, as in many containers
        warn(
            "likelihoods cannot be stored: this user has no home folder; set NND_CACHE to a folder"
        )
        yield None
        return
    with Store(path, warn=warn) as store:
        yield store
