"""Sets of human pairs with another distribution of contexts: samples, keywords, metadata.

Contexts are chosen with all their pairs, because pairs of one context are not independent.
"""

import contextlib
import itertools
import math
import operator
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import polars as pl

from nnd.converters.make.suite_folder import DerivedSet, make_set
from nnd.schemas import CONTEXT, NNDError, check_known, counted

SHIFTS: Mapping[str, tuple[str, ...]] = {
    "sample": ("mix", "seed"),
    "keywords": (),
    "metadata": ("values", "from", "before"),
}
"""Key that chooses pairs → further keys that it allows."""

_COLUMNS = ("category", "language", "split")
"""Columns of a pair that describe its context."""


def shift_set(
    pairs: pl.DataFrame, kind: str, entry: Mapping[str, Any], *, seed: int = 0
) -> DerivedSet:
    """Return the set that an entry of a definition describes.

    Args:
        pairs: The human pairs, rows of the pair schema.
        kind: `sample`, the number of contexts, perhaps in a `mix` ({topic: {sport: 0.5, politics:
            0.5}}); `keywords`, a list of words; or `metadata`, the name of a fact, and `values`,
            `from` or `before` (the last two a span of dates or numbers).
        entry: Has this key; it may have a `name` and a `note`.
        seed: Seed of the draw, where the entry has none.
    """
    parameters = {key: entry[key] for key in (kind, *SHIFTS[kind]) if key in entry}
    drawn_with = parameters.pop("seed", seed) if kind == "sample" else None
    match kind:
        case "keywords":
            chosen = with_keywords(pairs, entry["keywords"])
        case "sample":
            chosen = sample(pairs, entry["sample"], entry.get("mix", {}), seed=drawn_with or 0)
        case _:
            bounds = {"since": entry.get("from"), "before": entry.get("before")}
            values = entry.get("values", ())
            chosen = with_metadata(pairs, entry["metadata"], values=values, **bounds)
    if chosen.is_empty():
        stated = ", ".join(f"{key}: {value}" for key, value in parameters.items())
        raise NNDError("slice.empty", f"no context fits {stated}")
    return make_set(
        entry.get("name") or _name(kind, parameters),
        "shift",
        kind,
        chosen,
        parameters=parameters,
        seed=drawn_with,
        note=entry.get("note"),
    )


def _name(kind: str, parameters: Mapping[str, Any]) -> str:
    """Return the default name of a set: its kind and first parameters."""
    listed = (
        [*value] if isinstance(value, list | dict) else [value] for value in parameters.values()
    )
    words = itertools.chain.from_iterable(listed)
    return re.sub("[^a-z0-9._]+", "-", f"{kind}-{'-'.join(map(str, words))}".lower()).strip("-")


def sample(
    pairs: pl.DataFrame,
    contexts: int,
    mix: Mapping[str, Mapping[str, float]] = {},
    *,
    seed: int,
) -> pl.DataFrame:
    """Return the pairs of a sample of contexts, drawn without replacement; all if there are fewer.

    The draw depends on the ids of the contexts, not on the order of rows, and a larger sample
    contains a smaller one with the same seed. In a mix, each value of a fact gets its share of the
    contexts, rounded down, and the contexts that are left go to the largest remainders, so that no
    share is off by more than one context.

    `mix` has the mixed fact (`category`, `language`, `split`, or the name of one in `metadata`) →
    value → share of the contexts. NNDError: the shares do not add up to 1, the metadata lacks the
    fact, or a value has too few contexts.
    """
    if not mix:
        return _of_contexts(pairs, _drawn(pairs, contexts, seed))
    ((by, shares),) = mix.items()
    if not math.isclose(sum(shares.values()), 1, abs_tol=1e-9):
        raise NNDError(
            "option.bad-value",
            f"the shares of {by} are {dict(shares)}",
            remedy="give shares above 0 that add up to 1",
        )
    valued = pairs.with_columns(value=_fact(pairs, by))
    parts = []
    for value, n in _shares(contexts, shares).items():
        rows = valued.filter(pl.col("value") == value)
        available = rows.select(pl.struct(CONTEXT).n_unique()).item()
        if available < n:
            raise NNDError(
                "data.too-few-contexts",
                f"{counted(available, 'context')}, but the mix needs {n}",
                f"{by} {value}",
            )
        parts.append(_drawn(rows, n, seed))
    return _of_contexts(pairs, pl.concat(parts))


def with_keywords(pairs: pl.DataFrame, words: Sequence[str]) -> pl.DataFrame:
    """Return the pairs whose context has one of some words, as a whole word in any letter case."""
    if not all(word.strip() for word in words):
        raise NNDError(
            "option.bad-value", where=f"keywords {list(words)}", remedy="give one word or more"
        )
    either = "|".join(map(pl.escape_regex, words))
    return pairs.filter(pl.col("context").str.contains(rf"(?i)(?:^|\W)(?:{either})(?:\W|$)"))


def with_metadata(
    pairs: pl.DataFrame,
    name: str,
    *,
    values: Sequence[str] = (),
    since: str | None = None,
    before: str | None = None,
) -> pl.DataFrame:
    """Return the pairs of contexts with a given fact, such as a topic, or a date in a span.

    Texts are compared as texts, so dates are written like 2020-03-01; if a bound is a number,
    numbers are compared. Contexts without the fact are omitted.

    The fact is `category`, `language`, `split`, or the name of one in `metadata`. No values means
    all; `since` is the smallest value to keep, and `before` the smallest not to keep.
    """
    facts = _fact(pairs, name)
    keeps = facts.is_not_null()
    if values:
        keeps &= facts.is_in([*values])
    for bound, is_kept in ((since, operator.ge), (before, operator.lt)):
        if bound is not None:
            column: pl.Series = facts
            limit: str | float = bound
            with contextlib.suppress(ValueError):
                limit = float(bound)
                column = facts.cast(pl.Float64, strict=False)
            keeps &= is_kept(column, limit).fill_null(value=False)
    return pairs.filter(keeps)


def _fact(pairs: pl.DataFrame, name: str) -> pl.Series:
    """Return the named fact about the context of each pair."""
    if name in _COLUMNS:
        return pairs[name]
    key = pl.col("metadata").explode().struct.field("key")
    known = [*_COLUMNS, *pairs.select(key.drop_nulls().unique().sort()).to_series()]
    check_known("fact about the contexts", [name], known)
    is_it = pl.element().struct.field("key") == name
    value = pl.col("metadata").list.eval(pl.element().filter(is_it).struct.field("value"))
    return pairs.select(value.list.first()).to_series()


def _shares(contexts: int, mix: Mapping[str, float]) -> dict[str, int]:
    """Return the number of contexts of each value, by the largest remainders."""
    exact = {value: contexts * share for value, share in mix.items()}
    counts = {value: math.floor(n) for value, n in exact.items()}
    by_remainder = sorted(mix, key=lambda value: (counts[value] - exact[value], value))
    for value in by_remainder[: contexts - sum(counts.values())]:
        counts[value] += 1
    return counts


def _drawn(pairs: pl.DataFrame, contexts: int, seed: int) -> pl.DataFrame:
    """Return the keys of a number of contexts, those with the smallest digests."""
    keys = pairs.select(CONTEXT).unique().rows()
    ordered = sorted(keys, key=lambda key: sha256("\x00".join([str(seed), *key]).encode()).digest())
    return pl.DataFrame(ordered[:contexts], pairs.select(CONTEXT).schema, orient="row")


def _of_contexts(pairs: pl.DataFrame, chosen: pl.DataFrame) -> pl.DataFrame:
    return pairs.join(chosen, on=CONTEXT, how="semi", maintain_order="left")
