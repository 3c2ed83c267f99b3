"""What every launcher is given: models, and the shards that each of them scores."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from nnd.metric.data import PairSet
from nnd.metric.likelihood import Loading, Model, Scoring
from nnd.metric.run.model_result import ScoredModel
from nnd.metric.run.survival import Trouble


class Shard(NamedTuple):
    """Pairs that a model scores at once: a dataset, or a part of it.

    Parts are numbered from 0; a whole dataset is its only part.
    """

    dataset: str
    part: int
    pairs: PairSet
    scoring: Scoring


class ScoredShard(NamedTuple):
    """The scores of a shard, without its texts."""

    dataset: str
    part: int
    scored: ScoredModel


class ScoringTask(NamedTuple):
    """Models, and the shards that each of them scores.

    `todo` gives name of a model → its unfinished shards, each read when its turn comes; `total` is
    the number of shards of all models.
    """

    models: Mapping[str, Model]
    todo: Callable[[str], Iterator[Shard]]
    total: int
    scorings: Mapping[str, Scoring]
    loading: Loading
    trouble: Trouble


def whole_task(
    models: Mapping[str, Model],
    pairs: Mapping[str, PairSet],
    scorings: Mapping[str, Scoring],
    loading: Loading,
    trouble: Trouble,
    *,
    done: Collection[tuple[str, str]] = (),
) -> ScoringTask:
    """Return the task of scoring whole datasets.

    `pairs` gives name → its pairs; `done` are models and datasets that need no scoring.
    """
    todo = partial(_whole_shards, pairs, scorings, done)
    total = sum((name, dataset) not in done for name in models for dataset in pairs)
    return ScoringTask(models, todo, total, scorings, loading, trouble)


def _whole_shards(
    pairs: Mapping[str, PairSet],
    scorings: Mapping[str, Scoring],
    done: Collection[tuple[str, str]],
    model: str,
) -> Iterator[Shard]:
    for dataset, data in pairs.items():
        if (model, dataset) not in done:
            yield Shard(dataset, 0, data, scorings[model])
