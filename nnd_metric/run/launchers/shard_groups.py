"""Shards that the engine reads in one call, so that the rows of a GPU are full.

Parts are for bookkeeping: one of a small dataset fills a tenth of a row. Its own call then finds
its likelihoods in the store.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import polars as pl

from nnd.metric.data import PairSet
from nnd.metric.likelihood import (
    NO_WORK,
    Evidence,
    Likelihoods,
    LoadedModel,
    Store,
    Work,
    choose_budget,
)
from nnd.metric.run.pair_scoring import score_suite
from nnd.metric.run.preparation import Preparation, prepare
from nnd.metric.run.scoring_task import Shard
from nnd.metric.text import Request
from nnd.schemas import ScoringError, ScoringWarning

_ROWS = 4  # of a GPU: the last of them is partly empty
_TOKEN_BYTES = 4


class ReadShard(NamedTuple):
    """A shard, and how it was read with others.

    Attributes:
        shard: What is to be scored.
        store: What has its likelihoods, if it was read.
        work: That of the whole group, at its first shard; None if the shard was not read.
    """

    shard: Shard
    store: Store | None
    work: Work | None = None


def read_together(
    loaded: LoadedModel,
    shards: Iterable[Shard],
    store: Store | None,
    version: str,
    learnt: Mapping[str, Evidence],
) -> Iterator[ReadShard]:
    """Yield every shard; first read it with others, if that fills rows.

    Without a store, likelihoods are between the two calls in a temporary one. `learnt` has the
    evidence for every dataset.
    """
    most = _bytes_at_once(loaded)
    if not most:
        yield from (ReadShard(shard, store) for shard in shards)
        return
    with _this_or_temporary(store) as held:
        for group in _grouped(shards, most):
            work = None
            if len(group) > 1:
                work = _read(loaded, group, held, version, learnt[group[0].dataset])
            for shard in group:
                yield ReadShard(shard, held, work)
                work = None if work is None else NO_WORK


@contextmanager
def _this_or_temporary(store: Store | None) -> Iterator[Store]:
    if store is not None:
        yield store
        return
    warn = partial(warnings.warn, category=ScoringWarning, stacklevel=2)
    with (
        TemporaryDirectory(prefix="nnd-") as folder,
        Store(Path(folder) / "likelihoods.sqlite", warn=warn) as held,
    ):
        yield held


def _bytes_at_once(loaded: LoadedModel) -> int:
    """Return how much text a call should read; 0 where every shard fills rows by itself."""
    if loaded.device.type != "cuda":
        return 0
    return _ROWS * choose_budget(loaded) * _TOKEN_BYTES


def _grouped(shards: Iterable[Shard], most: int) -> Iterator[list[Shard]]:
    """Group neighbouring shards of a dataset up to that many bytes of text, or a larger one."""
    for _, same in groupby(shards, lambda shard: (shard.dataset, shard.scoring)):
        group, size = list[Shard](), 0
        for shard in same:
            its_size = _text_bytes(shard.pairs)
            if group and size + its_size > most:
                yield group
                group, size = [], 0
            group.append(shard)
            size += its_size
        yield group


def _read(
    loaded: LoadedModel, group: Sequence[Shard], store: Store, version: str, evidence: Evidence
) -> Work | None:
    """Score shards in one call, and store their likelihoods; errors are left to their own calls."""
    try:
        prepared = [prepare(loaded, pairs, scoring) for _, _, pairs, scoring in group]
        engine = prepared[0].engine
        if any(each.engine != engine for each in prepared):  # their contexts decide about chats
            return None
        requests = [
            request
            for shard, each in zip(group, prepared, strict=True)
            for request in _requests(shard, each)
        ]
        return replace(engine, store=store, version=version, evidence=evidence)(requests).work
    except ScoringError:
        return None


def _requests(shard: Shard, prepared: Preparation) -> list[Request]:
    """Return what `score_suite` asks a scorer about a shard."""
    asked: list[Request] = []

    def listen(requests: Sequence[Request]) -> Likelihoods:
        asked.extend(requests)
        n = len(requests)
        return Likelihoods(np.zeros(n), np.ones(n, dtype=np.int64), np.zeros(n, dtype=np.bool_))

    with_alone = shard.scoring.unconditional and shard.pairs.has_contexts
    score_suite(shard.pairs, listen, prepared.template, unconditional=with_alone)
    return asked


def _text_bytes(data: PairSet) -> int:
    frames = [data.pairs, *(each.pairs for each in data.sets)]
    sizes = pl.concat(
        frame.select(
            pl.col("context").unique().str.len_bytes().sum()
            + pl.col("candidate_high").str.len_bytes().sum()
            + pl.col("candidate_low").str.len_bytes().sum()
        )
        for frame in frames
    )
    return int(sizes.to_series().sum())
