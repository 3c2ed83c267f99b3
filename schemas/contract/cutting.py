"""Dividing pairs by context into training and test pairs.

A hash of its name decides the side of a context. So every command, every order of rows, and every
set derived from the same pairs holds out the same contexts.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import polars as pl

from nnd.schemas.contract.keys import fold
from nnd.schemas.words.errors import NNDError

FEWEST_HELD_OUT = 2

_Key: TypeAlias = tuple[str, str]
"""The id of a human context, and its text (`context_keys`)."""


def cut_by_context(pairs: pl.DataFrame, share: float, *, seed: int = 0) -> pl.Series:
    """Return for each pair whether it is for training; the others are held out for tests.

    Contexts that share a text, and pairs derived from one human context, are on one side. About
    `share` of the contexts is for training; at least two are held out, because one gives no
    interval. The pairs have the columns context, candidate_high, context_id and cluster.

    Raises:
        NNDError: If the share is not between 0 and 1, no context is left to train on, or there are
            fewer than three.
    """
    return cut_together(pairs, (), share, seed=seed)[0]


def cut_together(
    pairs: pl.DataFrame, others: Sequence[pl.DataFrame], share: float, *, seed: int = 0
) -> list[pl.Series]:
    """Cut pairs as `cut_by_context` does, and other pairs made from the same contexts with them.

    The others change nothing for the pairs, and their contexts need no pair. Null stands for a pair
    of the others that belongs to both sides: its context to one, its text to the other.

    Returns:
        Whether each pair is for training: of `pairs`, then of each of `others`.
    """
    if not 0 < share < 1:
        raise NNDError(
            "option.bad-value",
            where=f"split {share}",
            remedy="give a share between 0 and 1, such as 0.8",
        )
    keys = list(context_keys(pairs))
    families = _Families.of(keys)
    names = [families.first(cluster) for cluster, _ in keys]
    places = {family: _place(family, seed) for family in {*names}}
    bar = min([share, *sorted(places.values())[-FEWEST_HELD_OUT:]])
    if all(place >= bar for place in places.values()):
        raise NNDError(
            "data.too-few-contexts",
            f"no context is left to train on ({len(places)} distinct in all, at least "
            f"{FEWEST_HELD_OUT} held out)",
            f"split {share}",
            "give another share or another split seed, or more data",
        )
    sides = [places[name] < bar for name in names]
    known = dict(zip(keys, sides, strict=True))
    keys_of_others = [list(context_keys(rows)) for rows in others]
    found: list[Sequence[bool | None]] = [sides]
    found += _sides_of_others(known, keys_of_others, bar, seed)
    return [pl.Series(values, dtype=pl.Boolean) for values in found]


def _sides_of_others(
    known: Mapping[_Key, bool], others: Sequence[Sequence[_Key]], bar: float, seed: int
) -> Iterator[list[bool | None]]:
    """Yield for rows of other pairs the side of their context and text, or null if these differ.

    Rows with neither follow those they share one with, or, if there are none, their name.
    """
    clusters = {cluster: side for (cluster, _), side in known.items()}
    texts = {text: side for (_, text), side in known.items()}
    together = _Families.of(key for keys in others for key in keys)
    linked: dict[str, set[bool]] = {}
    for cluster, text in (key for keys in others for key in keys):
        of_family = linked.setdefault(together.first(cluster), set())
        of_family |= {side for side in (clusters.get(cluster), texts.get(text)) if side is not None}

    def side(cluster: str, text: str) -> bool | None:
        family = together.first(cluster)
        own = {of for of in (clusters.get(cluster), texts.get(text)) if of is not None}
        sides = own or linked[family] or {_place(family, seed) < bar}
        return None if len(sides) > 1 else next(iter(sides))

    for keys in others:
        yield [side(*key) for key in keys]


def context_keys(pairs: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield for each pair the id of its human context, and its context as far as readers see it.

    Without a context, that is the better candidate.
    """
    texts = (fold(pl.col(name)) for name in ("context", "candidate_high"))
    columns = pairs.select(pl.coalesce("cluster", "context_id"), *texts)
    for cluster, context, candidate in columns.iter_rows():
        yield cluster, context or candidate


@dataclass(frozen=True, slots=True)
class _Families:
    """Clusters that share texts, directly or through others; each family has the first id of it."""

    _parents: dict[str, str] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, keys: Iterable[_Key]) -> "_Families":
        """Return the families of the clusters and texts of some pairs."""
        families = cls()
        for cluster, text in keys:
            families._parents.setdefault(cluster, cluster)
            owner = families._owners.setdefault(text, cluster)
            one, other = sorted((families.first(cluster), families.first(owner)))
            families._parents[other] = one
        return families

    def first(self, cluster: str) -> str:
        """Return the first id of the family of a cluster."""
        while self._parents[cluster] != cluster:
            cluster = self._parents[cluster]
        return cluster


def _place(family: str, seed: int) -> float:
    """Return a number from 0 to 1 that depends only on the name and the seed."""
    digest = hashlib.sha256(f"{seed}\x00{family}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64
