"""A part of the pairs, small enough to be scored often and the same in every run."""

import hashlib
from dataclasses import replace

import polars as pl

from nnd.metric.data import PairSet, load_pairs
from nnd.metric.results import CLUSTER


def choose_contexts(pairs: PairSet, contexts: int) -> PairSet:
    """Return the pairs of so many contexts, those whose ids have the smallest SHA-256.

    The choice does not depend on the order of rows, and a larger one holds a smaller one.

    Args:
        pairs: All pairs.
        contexts: How many contexts to keep; all of them where there are no more.
    """
    known = pairs.pairs.select(CLUSTER).unique().rows()
    if len(known) <= contexts:
        return pairs
    chosen = sorted(known, key=_digest)[:contexts]
    keys = pl.DataFrame(chosen, pairs.pairs.select(CLUSTER).schema, orient="row")
    rows = pairs.pairs.join(keys, on=CLUSTER, how="semi", nulls_equal=True, maintain_order="left")
    return replace(pairs, pairs=rows, version=load_pairs(rows).version)


def _digest(key: tuple[str | None, ...]) -> str:
    return hashlib.sha256("\x00".join(part or "" for part in key).encode()).hexdigest()
