"""Columns and dtypes follow from the JSON Schemas."""

import polars as pl

from nnd.schemas import load_schema, polars_schema, rows_of

ENTRIES = pl.List(pl.Struct({"key": pl.String, "value": pl.String}))


def test_columns_stand_in_the_order_of_the_schema() -> None:
    assert polars_schema("pair").names() == list(load_schema("pair")["properties"])


def test_annotation_dtypes() -> None:
    keys = ["source", "split", "language", "context_id", "candidate_id", "system", "aspect"]
    texts = ["context", "category", "candidate", "label", "group"]
    expected = dict.fromkeys(keys + texts, pl.String) | {
        "inputs": ENTRIES,
        "metadata": ENTRIES,
        "score": pl.Float64,
        "ratings": pl.List(pl.Float64),
        "annotators": pl.List(pl.String),
    }

    assert dict(polars_schema("annotation")) == expected


def test_human_score_counts_are_integers() -> None:
    schema = polars_schema("human_score")

    assert (schema["score"], schema["n"]) == (pl.Float64(), pl.Int64())


def test_pair_inputs_are_a_list_of_entries_because_datasets_cannot_load_maps() -> None:
    assert polars_schema("pair")["inputs"] == ENTRIES


def test_rows_of_makes_objects_of_entries() -> None:
    frame = pl.DataFrame(
        {"inputs": [[{"key": "a", "value": "x"}, {"key": "b", "value": "y"}], None], "n": [1, 2]},
        {"inputs": ENTRIES, "n": pl.Int64},
    )

    assert list(rows_of(frame)) == [
        {"inputs": {"a": "x", "b": "y"}, "n": 1},
        {"inputs": None, "n": 2},
    ]


def test_rows_of_leaves_plain_lists_alone() -> None:
    frame = pl.DataFrame({"ratings": [[5.0, 4.0], None]})

    assert list(rows_of(frame)) == [{"ratings": [5.0, 4.0]}, {"ratings": None}]
