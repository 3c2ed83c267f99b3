"""Two pairs in a sentence each: what beats what, and what was said of them."""

import polars as pl
import pytest

from nnd.converters.folder.examples.sentences import example_sentences
from nnd.schemas import polars_schema

CONTEXT = "The cat sat on the mat, and then it slept for a very long time."


def pair(pair_id: str, category: str, high: str, low: str) -> dict[str, str]:
    return {
        "pair_id": pair_id,
        "split": "test",
        "context": CONTEXT,
        "aspect": "quality",
        "error_category": category,
        "label_high": "good",
        "high_id": high,
        "system_high": f"system {high}",
        "candidate_high": f"text\n{high}",
        "low_id": low,
        "system_low": f"system {low}",
        "candidate_low": f"text {low}",
    }


def annotations(**columns: list[object]) -> pl.DataFrame:
    rows = [
        {
            "split": "test",
            "aspect": "quality",
            "candidate_id": name,
            **{column: values[number] for column, values in columns.items()},
        }
        for number, name in enumerate("abc")
    ]
    return pl.DataFrame(rows, polars_schema("annotation"))


def frame(*pairs: dict[str, str]) -> pl.DataFrame:
    return pl.DataFrame(pairs, polars_schema("pair"))


PAIRS = frame(
    pair("3", "rare", "a", "b"),
    pair("2", "often", "a", "c"),
    pair("1", "often", "a", "b"),
    pair("0", "rarest", "b", "c"),
    pair("4", "rare", "b", "c"),
    pair("5", "often", "b", "c"),
)
"""Of "often", with three pairs, 1 has the lowest id; of "rare", with two, 3."""


@pytest.mark.parametrize(
    ("label", "columns", "said"),
    [
        ("good", {"score": [94.7, 20.0, 0.5]}, ["(good)", "(often)", "(good)", "(rare)"]),
        (None, {"score": [94.7, 20.0, 0.5]}, ["(94.7)", "(20)"] * 2),
        (None, {"ratings": [[5.0, 4.0], [1.0, 2.0], [3.0]]}, ["(5/4)", "(1/2)"] * 2),
    ],
)
def test_the_lowest_id_of_each_frequent_category(
    label: str | None, columns: dict[str, list[object]], said: list[str]
) -> None:
    pairs = PAIRS.with_columns(label_high=pl.lit(label, pl.String))

    assert list(example_sentences(pairs, annotations(**columns))) == [
        f'Of "{CONTEXT[:48]}…", system a {high} "text a" beats system b {low} "text b"'
        for high, low in zip(said[::2], said[1::2], strict=True)
    ]


def test_texts_that_begin_alike_are_shown_where_they_differ() -> None:
    alike = "So it was that all of them went home at the end of that day, "
    one = pair("1", "often", "a", "b")
    one |= {"candidate_high": alike + "and slept.", "candidate_low": alike + "and sang."}

    (sentence,) = example_sentences(frame(one), annotations())

    assert '"… that day, and slept." beats' in sentence
    assert sentence.endswith('(often) "… that day, and sang."')


def test_there_may_be_fewer_categories_than_sentences() -> None:
    assert len(list(example_sentences(PAIRS.head(1), annotations()))) == 1
