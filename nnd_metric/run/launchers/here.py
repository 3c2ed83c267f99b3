"""Score shards in this process, one model after the other; every launcher ends up here."""

import time
import warnings
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NoReturn

import torch
from tqdm import tqdm

from nnd.metric.likelihood import (
    Evidence,
    LoadedModel,
    Loading,
    Model,
    Scoring,
    Store,
    default_store,
    faster_precision,
    load_model,
    pin_version,
)
from nnd.metric.numbers import count_close
from nnd.metric.run.cost.stored_outlines import keep_outline
from nnd.metric.run.launchers.shard_groups import read_together
from nnd.metric.run.model_cost import cost_of, process_peak
from nnd.metric.run.model_result import ScoredModel
from nnd.metric.run.model_scoring import evaluate_model
from nnd.metric.run.scoring_task import ScoredShard, ScoringTask, Shard
from nnd.metric.text import find_protocol
from nnd.schemas import ScoringWarning

_LONG = 20.0  # seconds of scoring from which on a faster precision is worth a sentence


def score_here(task: ScoringTask) -> Generator[ScoredShard]:
    """Score the shards of every model, in order; only one model is loaded at a time.

    A model without unfinished shards is not loaded.
    """
    is_stored = any(scoring.cache for scoring in task.scorings.values())
    hidden = None if task.total > 1 else True
    bar = tqdm(total=task.total, unit="part", disable=hidden, leave=False)
    with _open_store() if is_stored else nullcontext() as store, bar:
        for number, (name, model) in enumerate(task.models.items(), start=1):
            bar.set_description(f"{name} ({number} of {len(task.models)})")
            with task.trouble.survived(name, None):
                shards = task.todo(name)
                if (first := next(shards, None)) is None:
                    continue
                since = time.perf_counter()
                # No variable holds a model after its turn: two may not fit into memory.
                yield from _score_all(
                    _load(model, name, task.loading, remember=store is not None),
                    chain([first], shards),
                    store,
                    task,
                    bar,
                    since=since,
                )


def _load(model: Model, name: str, loading: Loading, *, remember: bool) -> LoadedModel:
    """Load a model, and hash its weights once for all shards, or (`remember`) for later runs."""
    if isinstance(model, LoadedModel):  # its weights may have changed since it was loaded
        return pin_version(model, remember=False)
    return pin_version(replace(load_model(model, loading), name=name), remember=remember)


def _score_all(
    loaded: LoadedModel,
    shards: Iterator[Shard],
    store: Store | None,
    task: ScoringTask,
    bar: "tqdm[NoReturn]",
    *,
    since: float,
) -> Iterator[ScoredShard]:
    """Score shards with one model.

    `since` is when loading began, which its first result costs.
    """
    version, learnt = loaded.version(), defaultdict[str, Evidence](Evidence)
    start = time.perf_counter()
    loading, worked = start - since, 0.0
    is_told = task.loading.dtype is not None
    for (dataset, part, pairs, scoring), held, read in read_together(
        loaded, shards, store, version, learnt
    ):
        bar.set_postfix_str(dataset)
        with task.trouble.survived(loaded.name, dataset):
            known = learnt[dataset]
            scored = evaluate_model(loaded, pairs, scoring, held, version=version, evidence=known)
            seconds, work = time.perf_counter() - start, scored.result.work
            if seconds > _LONG and not is_told:
                _offer_faster(loaded, scoring, scored)
                is_told = True  # once, however many parts follow
            if read is not None:  # what it found stored was read just before
                work = replace(read, tokens=read.tokens + work.tokens)
            cost = cost_of(
                loaded.name, work, loading=loading, seconds=seconds, peak_bytes=_peak(loaded)
            )
            yield ScoredShard(dataset, part, scored._replace(cost=cost))
            loading, worked = 0.0, worked + work.seconds
        bar.update()
        start = time.perf_counter()  # what follows may first read several shards
    if store is not None:
        with suppress(Exception):  # some architectures cannot be outlined
            keep_outline(task.models[loaded.name], task.loading, loaded, worked)


def _offer_faster(loaded: LoadedModel, scoring: Scoring, scored: ScoredModel) -> None:
    """Say what would be faster, and how many tests its rounding could turn."""
    found = faster_precision(loaded, scoring.matmul)
    if found is None:
        return
    summed = find_protocol(scoring.protocol).normaliser == "one"
    close = count_close(scored.pairs, found.rounding, summed=summed)
    warnings.warn(
        f"{loaded.name}: {found.offer}; the margins of {close:,} of "
        f"{scored.result.rates.overall.n:,} tests are within its rounding, "
        f"{found.rounding:g} nats per token",
        ScoringWarning,
        stacklevel=2,
    )


def _peak(loaded: LoadedModel) -> int:
    if loaded.device.type == "cuda":
        return torch.cuda.max_memory_allocated(loaded.device)
    return process_peak()


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
