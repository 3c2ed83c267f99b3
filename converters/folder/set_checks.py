"""Checks of the sets of a suite against the pairs they are made from, and the manifest."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import polars as pl

from nnd.converters.folder.validation_result import Finding, located
from nnd.converters.pairs import pair_ids, reference_id, report_lengths, row_problems
from nnd.schemas import CONTEXT, FrameName, Problem, polars_schema, shown

_BUILD_AGAIN = "build the suite again"

_CHANGED = (
    *("context_id", "context", "inputs"),
    *("high_id", "candidate_high", "low_id", "candidate_low"),
    *("pair_id", "parent_id", "origin", "cluster"),
)
"""Columns in which a child may differ from its parent."""

_NAMED = {"context_id": "context", "high_id": "candidate_high", "low_id": "candidate_low"}
"""Id → the text that has it."""


HumanRows: TypeAlias = Mapping[FrameName, pl.DataFrame]
"""The pairs, annotations and references that sets are made from."""


def check_sets(
    manifest: Mapping[str, Any],
    sets: Mapping[str, Mapping[str, pl.DataFrame]],
    human: HumanRows,
) -> Iterator[Finding]:
    """Yield what is wrong with the sets of a suite, made from human rows (`check_set`)."""
    columns = polars_schema("pair")
    for facts in manifest.get("sets", ()):
        files = sets.get(facts["name"], {})
        if files and all(dict(frame.schema) == dict(columns) for frame in files.values()):
            rows = pl.concat([frame.select(columns.names()) for frame in files.values()])
            for problem in check_set(facts, rows, human):
                yield located(problem, files)


def check_set(facts: Mapping[str, Any], rows: pl.DataFrame, human: HumanRows) -> Iterator[Problem]:
    """Yield what is wrong with a set of a suite.

    A row without a parent must be a human pair, and a child must agree with its parent in all that
    was not changed. The better text of a negative must be a candidate or a reference. Ids must
    follow from the texts, and counts must be those of the manifest.
    """
    rows = rows.with_row_index("row")
    wrong = rows.filter(pair_ids(rows) != rows["pair_id"])
    for row, pair_id in wrong.select("row", "pair_id").iter_rows():
        yield Problem(row, "pair_id", f"{pair_id} is not the id of these texts", _BUILD_AGAIN)
    children = pl.col("parent_id").is_not_null()
    if facts["kind"] == "negatives":
        yield from _check_negatives(facts["operation"], rows, human)
    else:
        yield from _check_members(rows.filter(~children), human["pairs"])
        yield from _check_children(rows.filter(children), human["pairs"])
    yield from _check_counts(facts, rows)


def _check_members(rows: pl.DataFrame, pairs: pl.DataFrame) -> Iterator[Problem]:
    """Check that rows without a parent are human pairs."""
    strange = rows.join(pairs, on=pairs.columns, how="anti", nulls_equal=True)
    for row, pair_id in strange.select("row", "pair_id").sort("row").iter_rows():
        message = f"{pair_id} is not one of the human pairs and names no parent"
        yield Problem(row, "", message, _BUILD_AGAIN)


def _check_children(rows: pl.DataFrame, pairs: pl.DataFrame) -> Iterator[Problem]:
    """Check that children have a human parent and differ from it in changed texts only."""
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
        message, rows = "is not the value of its parent", both.filter(is_other)
        yield from row_problems(rows, name, message, _BUILD_AGAIN, quoted=True)


def _check_negatives(operation: str, rows: pl.DataFrame, human: HumanRows) -> Iterator[Problem]:
    """Check that negatives are made from texts of the folder and name their operation."""
    context = (*CONTEXT, "context")
    candidates = human["annotations"].select(
        *context, high_id="candidate_id", candidate_high="candidate"
    )
    references = (
        human["references"]
        .join(candidates.select(context).unique(), on=CONTEXT)
        .select(*context, high_id=reference_id(), candidate_high="reference")
    )
    known = pl.concat([candidates, references])
    parents = human["pairs"].select("split", "high_id", "aspect", parent_id="pair_id")
    strange, orphans = (
        pl.col("row").is_in(rows.join(texts, on=texts.columns, how="anti")["row"].implode())
        for texts in (known, parents)
    )
    wrong = {
        "candidate_high": (strange, "is not a text of its context"),
        "parent_id": (
            pl.col("parent_id").is_not_null() & orphans,
            "is not a human pair with this better text",
        ),
        "low_id": (
            ~pl.col("low_id").str.starts_with(pl.col("high_id") + "~"),
            "is not the id of a text made of the better one",
        ),
        "error_category": (
            pl.col("error_category") != operation,
            "is not the operation of the set",
        ),
        "origin": (pl.col("origin") != f"synthetic:{operation}", "does not name the operation"),
    }
    for name, (is_wrong, message) in wrong.items():
        yield from row_problems(rows.filter(is_wrong), name, message, _BUILD_AGAIN, quoted=True)


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
    if facts.get("lengths") and facts["lengths"] != report_lengths(rows):
        message = "the lengths in the manifest are not those of the set"
        yield Problem(None, "", message, _BUILD_AGAIN)
