"""How pairs are rendered as prompts and continuations, for tools that pairs are exported to."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import polars as pl

from nnd.schemas import StoredContext


class PromptRendering(NamedTuple):
    """A way to render contexts, such as the metric's templates (`nnd export --template`).

    Attributes:
        name: Its name in exported files.
        separator: The text between a context and a candidate.
        render: Stored contexts → for each, the rendered context and the prefix of its candidates.
        notes: Remarks for users of the export.
    """

    name: str
    separator: str
    render: Callable[[Sequence[StoredContext]], Sequence[tuple[str, str]]]
    notes: tuple[str, ...] = ()


STORED = PromptRendering("default", " ", lambda contexts: [(each.text, "") for each in contexts])
"""Contexts as they are stored, with a space before the candidate: the default of the metric."""


def render_pairs(pairs: pl.DataFrame, rendering: PromptRendering) -> pl.DataFrame:
    """Return pairs with rendered contexts, and candidates with their prefixes.

    Args:
        pairs: Rows of the pair schema.
        rendering: How contexts are rendered; the caller adds its separator.
    """
    stored = pairs.select("context", "inputs", "category", "language").iter_rows()
    contexts = [
        StoredContext.of(context, {entry["key"]: entry["value"] for entry in inputs}, *kinds)
        for context, inputs, *kinds in stored
    ]
    schema = {"context": pl.String, "before": pl.String}
    texts = pl.DataFrame(rendering.render(contexts), schema, orient="row")
    return pairs.with_columns(
        context=texts["context"],
        candidate_high=texts["before"] + pairs["candidate_high"],
        candidate_low=texts["before"] + pairs["candidate_low"],
    )
