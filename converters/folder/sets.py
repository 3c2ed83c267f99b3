"""Checking the sets of a suite: against the pairs they are made of, and against the manifest."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from nnd.converters.folder.outcome import Finding, located
from nnd.converters.pairs import pair_ids
from nnd.converters.reading import shown
from nnd.schemas import CONTEXT, Problem, polars_schema

_BUILD_AGAIN = "build the suite again"

_CHANGED = (
    *("context_id", "context", "inputs"),
    *("high_id", "candidate_high", "low_id", "candidate_low"),
    *("pair_id", "parent_id", "origin", "cluster"),
)
"""Columns in which a child may differ from its parent."""

_NAMED = {"context_id": "context", "high_id": "candidate_high", "low_id": "candidate_low"}
"""Id → the text that has it."""


def check_sets(
    manifest: Mapping[str, Any],
    sets: Mapping[str, Mapping[str, pl.DataFrame]],
    pairs: Mapping[str, pl.DataFrame],
) -> Iterator[Finding]:
    """Yield what is wrong with the sets of a suite (`check_set`).

    Args:
        manifest: Of the suite.
        sets: Name → path → rows of that file.
        pairs: Path → rows of the files of the human pairs.
    """
    columns = polars_schema("pair")
    human = pl.concat([frame.select(columns.names()) for frame in pairs.values()])
    for facts in manifest.get("sets", ()):
        files = sets.get(facts["name"], {})
        if files and all(dict(frame.schema) == dict(columns) for frame in files.values()):
            rows = pl.concat([frame.select(columns.names()) for frame in files.values()])
            for problem in check_set(facts, rows, human):
                yield located(problem, files)


def check_set(
    facts: Mapping[str, Any], rows: pl.DataFrame, pairs: pl.DataFrame
) -> Iterator[Problem]:
    """Yield what is wrong with a set of a suite.

    A row without a parent is one of the human pairs; a child agrees with its parent in all that was
    not changed; ids are those of the content; counts are the manifest's.

    Args:
        facts: What the manifest says of the set.
        rows: Its pairs, with the columns of the pair schema.
        pairs: The human pairs.
    """
    rows = rows.with_row_index("row")
    wrong = rows.filter(pair_ids(rows) != rows["pair_id"])
    for row, pair_id in wrong.select("row", "pair_id").iter_rows():
        yield Problem(row, "pair_id", f"{pair_id} is not the id of these texts", _BUILD_AGAIN)
    children = pl.col("parent_id").is_not_null()
    yield from _check_members(rows.filter(~children), pairs)
    yield from _check_children(rows.filter(children), pairs)
    yield from _check_counts(facts, rows)


def _check_members(rows: pl.DataFrame, pairs: pl.DataFrame) -> Iterator[Problem]:
    """Rows without a parent are human pairs."""
    strange = rows.join(pairs, on=pairs.columns, how="anti", nulls_equal=True)
    for row, pair_id in strange.select("row", "pair_id").sort("row").iter_rows():
        message = f"{pair_id} is not one of the human pairs, and names no parent"
        yield Problem(row, "", message, _BUILD_AGAIN)


def _check_children(rows: pl.DataFrame, pairs: pl.DataFrame) -> Iterator[Problem]:
    """Children have a human parent, from which they differ in changed texts alone."""
    both = rows.join(
        pairs.rename(lambda name: f"{name}_p"),
        left_on="parent_id",
        right_on="pair_id_p",
        how="left",
        maintain_order="left",
    )
    orphans = both["source_p"].is_null()
    for row, parent in both.filter(orphans).select("row", "parent_id").iter_rows():
        message = f"{parent} is not one of the human pairs"
        yield Problem(row, "parent_id", message, _BUILD_AGAIN)
    both = both.filter(~orphans)
    cluster = pl.coalesce("cluster_p", "context_id_p")
    differs = {
        name: pl.col(name).ne_missing(pl.col(f"{name}_p"))
        for name in pairs.columns
        if name not in _CHANGED
    }
    differs["cluster"] = pl.col("cluster").ne_missing(cluster)
    for id_, text in _NAMED.items():
        same_id = pl.col(id_) == pl.col(f"{id_}_p")
        differs[text] = same_id & (pl.col(text) != pl.col(f"{text}_p"))
    for name, is_other in differs.items():
        for row, value in both.filter(is_other).select("row", name).iter_rows():
            message = f"{shown(value)} is not what the parent has"
            yield Problem(row, name, message, _BUILD_AGAIN)


def _check_counts(facts: Mapping[str, Any], rows: pl.DataFrame) -> Iterator[Problem]:
    counted = {
        "pairs": rows.height,
        "parents": rows["parent_id"].drop_nulls().n_unique() or None,
        "contexts": rows.select(pl.struct(CONTEXT).n_unique()).item(),
    }
    for name, n in counted.items():
        if facts[name] != n:
            message = f"{shown(facts[name])} {name} in the manifest, {shown(n)} in the set"
            yield Problem(None, "", message, _BUILD_AGAIN)
