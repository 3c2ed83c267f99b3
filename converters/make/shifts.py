"""Sets of human pairs with another distribution of contexts: samples, keywords, metadata.

Contexts are chosen with all their pairs, because pairs of one context are not independent.
"""

import math
from collections.abc import Mapping, Sequence
from hashlib import sha256

import polars as pl

from nnd.schemas import CONTEXT, NNDError, counted, did_you_mean

_COLUMNS = ("category", "language", "split")
"""Columns of a pair that describe its context."""


def sample(pairs: pl.DataFrame, contexts: int, *, seed: int) -> pl.DataFrame:
    """Return the pairs of a sample of contexts, drawn without replacement; all if there are fewer.

    The draw depends on the ids of the contexts, not on the order of rows, and a larger sample
    contains a smaller one with the same seed.

    Args:
        pairs: Rows of the pair schema.
        contexts: How many contexts to draw.
        seed: Seed of the draw.

    Raises:
        NNDError: If less than one context is requested.
    """
    if contexts < 1:
        raise NNDError(f"a sample of {contexts} contexts: draw at least 1")
    return _of_contexts(pairs, _drawn(pairs, contexts, seed))


def stratified(
    pairs: pl.DataFrame, contexts: int, by: str, mix: Mapping[str, float], *, seed: int
) -> pl.DataFrame:
    """Return the pairs of a sample of contexts with a given mix.

    Each value gets its share of the contexts, rounded down, and the contexts that are left go to
    the largest remainders, so that no share is off by more than one context.

    Args:
        pairs: Rows of the pair schema.
        contexts: How many contexts to draw.
        by: The mixed fact: `category`, `language`, `split`, or the name of a fact in `metadata`.
        mix: Value → share of the contexts; the shares add up to 1.
        seed: Seed of the draw.

    Raises:
        NNDError: If the shares do not add up to 1, the metadata lacks that fact, or a value has
            fewer contexts than its share.
    """
    if not mix or min(mix.values()) <= 0 or not math.isclose(sum(mix.values()), 1, abs_tol=1e-9):
        raise NNDError(f"the shares of {by} are {dict(mix)}; give shares above 0 that add up to 1")
    valued = pairs.with_columns(value=_fact(pairs, by))
    parts = []
    for value, n in _shares(contexts, mix).items():
        rows = valued.filter(pl.col("value") == value)
        available = rows.select(pl.struct(CONTEXT).n_unique()).item()
        if available < n:
            raise NNDError(
                f"{by} {value}: {counted(available, 'context')}, but the mix needs {n}; ask for a "
                "smaller sample, or another mix"
            )
        parts.append(_drawn(rows, n, seed))
    return _of_contexts(pairs, pl.concat(parts))


def with_keywords(pairs: pl.DataFrame, words: Sequence[str]) -> pl.DataFrame:
    """Return the pairs whose context has one of some words, as a whole word in any letter case.

    Args:
        pairs: Rows of the pair schema.
        words: Words, or several words with single blanks between them.

    Raises:
        NNDError: If there is no word.
    """
    if not words or not all(word.strip() for word in words):
        raise NNDError(f"keywords {list(words)}: give one word or more")
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
    numbers are compared. Contexts without the fact are left out.

    Args:
        pairs: Rows of the pair schema.
        name: `category`, `language`, `split`, or the name of a fact in `metadata`.
        values: The values to keep; none: all.
        since: The smallest value to keep.
        before: The smallest value not to keep.

    Raises:
        NNDError: If the metadata lacks that fact.
    """
    found = _fact(pairs, name)
    keeps = found.is_not_null()
    if values:
        keeps &= found.is_in([*values])
    for bound, is_lower in ((since, True), (before, False)):
        if bound is not None:
            as_numbers = _number(bound) is not None
            of = found.cast(pl.Float64, strict=False) if as_numbers else found
            limit = _number(bound) if as_numbers else bound
            keeps &= ((of >= limit) if is_lower else (of < limit)).fill_null(value=False)
    return pairs.filter(keeps)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _fact(pairs: pl.DataFrame, name: str) -> pl.Series:
    """Return the named fact about the context of each pair."""
    if name in _COLUMNS:
        return pairs[name]
    key = pl.col("metadata").explode().struct.field("key")
    known = [*_COLUMNS, *pairs.select(key.drop_nulls().unique().sort()).to_series()]
    if name not in known:
        raise NNDError(
            f'unknown fact "{name}" about the contexts{did_you_mean(name, known)}; '
            f"known: {', '.join(known)}"
        )
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
