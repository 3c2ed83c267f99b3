"""Surface features of two candidates: their lengths, and how much each copies.

A baseline that sees only these can pass many tests (`baselines`). They are measured once, when the
texts are available, and stored with the likelihoods.

Length is in characters (code points), as in the report of `nnd convert`: words would need spaces,
which Chinese and Japanese do not use, and short candidates would tie. The copied share is the part
of a candidate's word bigrams that occur in its context (1 minus the share of novel bigrams of See
et al. 2017, Get to the point), words being those of `find_words`, in any case: in Chinese, each
character is a word.
"""

from collections.abc import Iterator
from itertools import pairwise

import polars as pl

from nnd.metric.data import SURFACE_SCHEMA
from nnd.schemas import find_words


def measure(pairs: pl.DataFrame) -> pl.DataFrame:
    """Measure both candidates of every pair: the columns of SURFACE_SCHEMA, one row per pair.

    Contexts and candidates must not be null.
    """
    shares = _copied_shares(pairs)
    sides = ("high", "low")
    lengths = {f"characters_{s}": pairs[f"candidate_{s}"].str.len_chars() for s in sides}
    copied = {
        f"copied_{side}": [
            shares[context][candidate]
            for context, candidate in pairs.select("context", f"candidate_{side}").iter_rows()
        ]
        for side in sides
    }
    return pl.DataFrame({**lengths, **copied}, schema_overrides=SURFACE_SCHEMA)


def _copied_shares(pairs: pl.DataFrame) -> dict[str, dict[str, float | None]]:
    """Return the shares by context and candidate; of one context's bigrams at a time."""
    shares: dict[str, dict[str, float | None]] = {}
    for context, high, low in pairs.select(
        "context", "candidate_high", "candidate_low"
    ).iter_rows():
        shares.setdefault(context, {}).update({high: None, low: None})
    for context, found in shares.items():
        known = frozenset(_bigrams(context))
        for candidate in found:
            found[candidate] = _share(candidate, known)
    return shares


def _share(candidate: str, known: frozenset[tuple[str, str]]) -> float | None:
    bigrams = list(_bigrams(candidate))
    return sum(map(known.__contains__, bigrams)) / len(bigrams) if bigrams else None


def _bigrams(text: str) -> Iterator[tuple[str, str]]:
    return pairwise(find_words(text.casefold()))
