"""The results of earlier runs, for which neither the model nor torch is loaded again.

A result is a file in the cache folder, named after its key (`result_keys`). It counts only while
the path that its numbers come from is the one last proved right, as for likelihoods in the store.
"""

import json
import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from nnd.metric.data import CHILD_SCHEMA, SCORED_SCHEMA, PairSet
from nnd.metric.likelihood import Loading, Scoring, Store, default_store
from nnd.metric.numbers import pass_rates
from nnd.metric.run.model_cost import ModelCost
from nnd.metric.run.model_result import ModelResult, ScoredModel
from nnd.metric.run.result_keys import data_key, model_key
from nnd.metric.run.scoring_task import ScoredShard
from nnd.metric.run.sealed_rows import DAMAGE, SealedRows, write_sealed
from nnd.schemas import ScoringWarning, cache_folder, forget_oldest

_MOST_BYTES: Final = 2**30
"""Most bytes of all stored results; the newest are kept."""


class StoredResults(NamedTuple):
    """The places of results in the cache folder, for those with a key.

    `places` gives (model, dataset) → file, and `is_unchanged` whether a model still has the key
    that its places are named after.
    """

    places: Mapping[tuple[str, str], Path]
    is_unchanged: Callable[[str], bool]

    def find(self) -> list[ScoredShard]:
        """Return the results that are stored, undamaged and still hold, as shards of a run."""
        isfile = os.path.isfile  # without an error where nothing may be read
        there = {both: place for both, place in self.places.items() if isfile(place)}
        if not there:
            return []
        warn = partial(warnings.warn, category=ScoringWarning, stacklevel=2)
        found: list[ScoredShard] = []
        with Store(default_store(), warn=warn) as store:
            for (model, dataset), place in there.items():
                with suppress(*DAMAGE):
                    if (scored := _read(place, model, store)) is not None:
                        found.append(ScoredShard(dataset, 0, scored))
        return found

    def keep(self, shard: ScoredShard) -> None:
        """Store a new result, if it has a place and its likelihoods are in the store.

        The files of its model may have changed before it was loaded: then nothing is stored.
        """
        result = shard.scored.result
        place = self.places.get((result.model, shard.dataset))
        if place is None or not result.work.fingerprint or not self.is_unchanged(result.model):
            return
        facts = {
            "result": result.to_dict(),
            "requests": result.work.requests,
            "fingerprint": result.work.fingerprint,
        }
        of_pairs = shard.scored.pairs.drop("model").with_columns(set=pl.lit(""), parent_id=None)
        of_sets = shard.scored.children.drop("model")
        with suppress(OSError):  # at worst, nothing is stored
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_sealed(place, pl.concat([of_pairs, of_sets], how="diagonal_relaxed"), facts)
            forget_oldest(place.parent, _MOST_BYTES)


def stored_results(
    models: Mapping[str, object],
    pairs: Mapping[str, PairSet],
    scorings: Mapping[str, Scoring],
    loading: Loading,
) -> StoredResults:
    """Return where the results of models on datasets are stored; nothing is read yet."""

    def find_key(name: str) -> str | None:
        return model_key(name, models[name], scorings[name], loading)

    of_models = {name: key for name in models if (key := find_key(name)) is not None}

    def is_unchanged(name: str) -> bool:
        return find_key(name) == of_models[name]

    of_data = {dataset: data_key(data) for dataset, data in pairs.items()} if of_models else {}
    try:
        folder = cache_folder() / "results"
    except RuntimeError:  # a user without a home folder
        return StoredResults({}, is_unchanged)
    return StoredResults(
        {
            (name, dataset): folder / f"{model[:32]}-{data[:32]}.parquet"
            for name, model in of_models.items()
            for dataset, data in of_data.items()
        },
        is_unchanged,
    )


def _read(place: Path, model: str, store: Store) -> ScoredModel | None:
    """Return a stored result, or None if its path has been switched off since."""
    sealed = SealedRows(place)
    facts, rows = sealed.facts, sealed.read().with_columns(model=pl.lit(model))
    path = store.get_proof(facts["fingerprint"], lambda proof: str(json.loads(proof)["path"]))
    if path != facts["result"]["engine"]["path"]:
        return None
    of_sets = rows.filter(pl.col("set") != "").select("model", *CHILD_SCHEMA)
    pairs = rows.filter(pl.col("set") == "").select("model", *SCORED_SCHEMA)
    result = ModelResult.from_dict(facts["result"], rates=pass_rates(pairs))
    work = replace(result.work, requests=facts["requests"], stored=facts["requests"])
    cost = ModelCost(model=model, requests=work.requests, stored=work.stored)
    return ScoredModel(replace(result, work=work), pairs, of_sets, cost=cost)
