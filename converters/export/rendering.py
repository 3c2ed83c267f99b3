"""How a pair becomes texts that a model continues: for the tools that NND tests are exported to."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import polars as pl


class Rendering(NamedTuple):
    """A way to render contexts; the metric's templates are some (`nnd export --template`).

    Attributes:
        name: What exported files call it.
        separator: Stands between a context and a candidate.
        render: From contexts and their parts by name to, for each, the text that is read and what
            goes before its candidates.
        notes: What to know before using what is exported.
    """

    name: str
    separator: str
    render: Callable[[Sequence[str], Sequence[Mapping[str, str]]], Sequence[tuple[str, str]]]
    notes: tuple[str, ...] = ()


class Written(NamedTuple):
    """What a writer wrote.

    Attributes:
        rows: Pairs, or examples where the same texts are one.
        notes: What to know before using it.
    """

    rows: int
    notes: tuple[str, ...] = ()


STORED = Rendering("default", " ", lambda contexts, _: [(context, "") for context in contexts])
"""Contexts as they are stored, a space before the candidate: what the metric does by default."""


def render_pairs(pairs: pl.DataFrame, rendering: Rendering) -> pl.DataFrame:
    """Return pairs with the context that is read, and candidates with what goes before them.

    Args:
        pairs: Rows of the pair schema.
        rendering: How; its separator is for the caller to put between.
    """
    parts = [{entry["key"]: entry["value"] for entry in row} for row in pairs["inputs"]]
    texts = rendering.render(pairs["context"].to_list(), parts)
    before = pl.Series([prefix for _, prefix in texts], dtype=pl.String)
    return pairs.with_columns(
        context=pl.Series([prompt for prompt, _ in texts], dtype=pl.String),
        candidate_high=before + pairs["candidate_high"],
        candidate_low=before + pairs["candidate_low"],
    )
