"""Checks of the sets of a suite against the pairs they are made from, and the manifest."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from nnd.converters.folder.validation_result import Finding, located
from nnd.converters.pairs import pair_ids, reference_id, report_lengths
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


class HumanRows(NamedTuple):
    """The pairs, annotations and references that sets are made from."""

    pairs: pl.DataFrame
    annotations: pl.DataFrame
    references: pl.DataFrame


def check_sets(
    manifest: Mapping[str, Any],
    sets: Mapping[str, Mapping[str, pl.DataFrame]],
    human: HumanRows,
) -> Iterator[Finding]:
    """Yield what is wrong with the sets of a suite (`check_set`).

    Args:
        manifest: The suite's manifest.
        sets: Name → path → rows of that file.
        human: What the sets are made from.
    """
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

    Args:
        facts: The entry of the set in the manifest.
        rows: Its pairs, with the columns of the pair schema.
        human: What the set is made from.
    """
    rows = rows.with_row_index("row")
    wrong = rows.filter(pair_ids(rows) != rows["pair_id"])
    for row, pair_id in wrong.select("row", "pair_id").iter_rows():
        yield Problem(row, "pair_id", f"{pair_id} is not the id of these texts", _BUILD_AGAIN)
    children = pl.col("parent_id").is_not_null()
    if facts["kind"] == "negatives":
        yield from _check_negatives(facts["operation"], rows, human)
    else:
        strange = rows.filter(~children).join(
            human.pairs, on=human.pairs.columns, how="anti", nulls_equal=True
        )
        for row, pair_id in strange.select("row", "pair_id").sort("row").iter_rows():
            message = f"{pair_id} is not one of the human pairs and names no parent"
            yield Problem(row, "", message, _BUILD_AGAIN)
        yield from _check_children(rows.filter(children), human.pairs)
    yield from _check_counts(facts, rows)


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
        yield from _strange_values(both.filter(is_other), name, "is not the value of its parent")


def _strange_values(rows: pl.DataFrame, name: str, message: str) -> Iterator[Problem]:
    for row, value in rows.select("row", name).iter_rows():
        yield Problem(row, name, f"{shown(value)} {message}", _BUILD_AGAIN)


def _check_negatives(operation: str, rows: pl.DataFrame, human: HumanRows) -> Iterator[Problem]:
    """Check that negatives are made from texts of the folder and name their operation."""
    text = ("split", "context_id", "high_id", "candidate_high")
    candidates = human.annotations.select(
        "split", "context_id", "context", high_id="candidate_id", candidate_high="candidate"
    )
    contexts = candidates.select("split", "context_id", "context").unique()
    references = human.references.join(contexts, on=CONTEXT).select(
        *("split", "context_id", "context"),
        high_id=reference_id(),
        candidate_high="reference",
    )
    known = pl.concat([candidates, references]).with_columns(is_known=True)
    marked = rows.join(known.unique(), on=[*text, "context"], how="left", maintain_order="left")
    of_parent = human.pairs.select("split", "high_id", "aspect", "pair_id", has_parent=True)
    marked = marked.join(
        of_parent,
        left_on=["split", "high_id", "aspect", "parent_id"],
        right_on=["split", "high_id", "aspect", "pair_id"],
        how="left",
        maintain_order="left",
    )
    wrong = {
        "candidate_high": (pl.col("is_known").is_null(), "is not a text of its context"),
        "parent_id": (
            pl.col("parent_id").is_not_null() & pl.col("has_parent").is_null(),
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
        yield from _strange_values(marked.filter(is_wrong), name, message)


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
