"""Dividing pairs by context into training and test pairs.

A hash of its name decides the side of a context. So every command, every order of rows, and every
set derived from the same pairs holds out the same contexts.
"""

import hashlib
from collections.abc import Iterator

import polars as pl

from nnd.schemas.contract.keys import fold
from nnd.schemas.words.errors import NNDError

FEWEST_HELD_OUT = 2


def cut_by_context(pairs: pl.DataFrame, share: float, *, seed: int = 0) -> pl.Series:
    """Return for each pair whether it is for training; the others are held out for tests.

    Contexts that share a text, and pairs derived from one human context, are on one side. About
    `share` of the contexts is for training; at least two are held out, because one gives no
    interval. The pairs have the columns context, candidate_high, context_id and cluster.

    Raises:
        NNDError: If the share is not between 0 and 1, no context is left to train on, or there are
            fewer than three.
    """
    if not 0 < share < 1:
        raise NNDError(
            "option.bad-value",
            where=f"split {share}",
            remedy="give a share between 0 and 1, such as 0.8",
        )
    families = _families(pairs)
    places = {family: _place(family, seed) for family in {*families}}
    highest = sorted(places.values())[-FEWEST_HELD_OUT:]
    bar = min([share, *highest])
    held_out = {family for family, place in places.items() if place >= bar}
    if len(held_out) == len(places):
        raise NNDError(
            "data.too-few-contexts",
            f"no context is left to train on ({len(places)} distinct in all, at least "
            f"{FEWEST_HELD_OUT} held out)",
            f"split {share}",
            "give another share or another split seed, or more data",
        )
    return pl.Series([family not in held_out for family in families], dtype=pl.Boolean)


def context_keys(pairs: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield for each pair the id of its human context, and its context as far as readers see it.

    Without a context, that is the better candidate.
    """
    texts = (fold(pl.col(name)) for name in ("context", "candidate_high"))
    columns = pairs.select(pl.coalesce("cluster", "context_id"), *texts)
    for cluster, context, candidate in columns.iter_rows():
        yield cluster, context or candidate


def _families(pairs: pl.DataFrame) -> list[str]:
    """Return for each pair the first id of all clusters that share texts with its own."""
    parents: dict[str, str] = {}
    owners: dict[str, str] = {}

    def first(cluster: str) -> str:
        while parents[cluster] != cluster:
            cluster = parents[cluster]
        return cluster

    keys = list(context_keys(pairs))
    for cluster, text in keys:
        parents.setdefault(cluster, cluster)
        one, other = sorted((first(cluster), first(owners.setdefault(text, cluster))))
        parents[other] = one
    return [first(cluster) for cluster, _ in keys]


def _place(family: str, seed: int) -> float:
    """Return a number from 0 to 1 that depends only on the name and the seed."""
    digest = hashlib.sha256(f"{seed}\x00{family}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64
