"""Samples of human pairs, by chance, mix, keyword and metadata."""

from collections import Counter
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal

from nnd.converters.make.shifts import sample, shift_set, with_keywords, with_metadata
from nnd.schemas import check_rows


def pairs(n: int, **columns: Any) -> pl.DataFrame:
    """Two pairs of each of n contexts, in the columns that matter here."""
    frame = pl.DataFrame(
        {
            "split": ["test"] * n,
            "context_id": [f"c{number}" for number in range(n)],
            "context": columns.get("context", ["text"] * n),
            "category": columns.get("category", [None] * n),
            "language": ["en"] * n,
            "parent_id": pl.Series([None] * n, dtype=pl.String),
            "metadata": [
                [{"key": key, "value": value} for key, value in facts.items()]
                for facts in columns.get("metadata", [{"topic": "none"}] * n)
            ],
        }
    )
    return pl.concat([frame, frame])


def contexts(rows: pl.DataFrame) -> list[str]:
    return sorted(rows["context_id"].unique())


def test_g04_g60_a_sample_is_so_many_contexts_and_the_same_for_the_same_seed() -> None:
    rows = pairs(2000)
    one = sample(rows, 500, seed=1)

    assert len(contexts(one)) == 500
    assert one.height == 1000  # whole contexts
    assert sample(rows, 500, seed=1).equals(one)
    assert contexts(sample(rows.reverse(), 500, seed=1)) == contexts(one)
    assert contexts(sample(rows, 500, seed=2)) != contexts(one)
    assert set(contexts(one)) < set(contexts(sample(rows, 501, seed=1)))
    assert sample(pairs(300), 500, seed=1).equals(pairs(300))


def test_every_context_is_equally_likely() -> None:
    drawn = Counter(
        name for seed in range(100) for name in contexts(sample(pairs(20), 5, seed=seed))
    )

    assert len(drawn) == 20
    assert all(abs(n - 25) < 18 for n in drawn.values())  # four standard deviations of 100 at 1/4


@pytest.mark.parametrize("n", [10, 33, 100])
@pytest.mark.parametrize("mix", [(0.5, 0.3, 0.2), (1 / 3, 1 / 3, 1 / 3), (0.98, 0.01, 0.01)])
def test_g61_each_share_of_a_mix_is_within_one_context(n: int, mix: tuple[float, ...]) -> None:
    topics = ("art", "law", "sport")
    rows = pairs(400, metadata=[{"topic": topics[number % 3]} for number in range(400)])
    shares = dict(zip(topics, mix, strict=True))
    found = sample(rows, n, {"topic": shares}, seed=1)
    topic_of = dict(
        zip(rows["context_id"], [each[0]["value"] for each in rows["metadata"]], strict=True)
    )
    counts = Counter(topic_of[name] for name in contexts(found))

    assert counts.total() == n
    assert all(abs(counts[topic] / n - share) < 1 / n for topic, share in shares.items())


@pytest.mark.parametrize(
    ("by", "mix", "code"),
    [
        ("topic", {"a": 0.5, "b": 0.4}, "option.bad-value"),
        ("topic", {}, "option.bad-value"),
        ("topic", {"a": 0.9, "b": 0.1}, "data.too-few-contexts"),
        (
            "topics",
            {"a": 1.0},
            "name.unknown",
        ),
        ("category", {"x": 1.0}, "data.too-few-contexts"),
    ],
)
def test_a_mix_that_cannot_be_made_is_one_error(by: str, mix: dict[str, float], code: str) -> None:
    rows = pairs(40, metadata=[{"topic": "a"}] * 2 + [{"topic": "b"}] * 38)

    with refusal(code):
        sample(rows, 10, {by: mix}, seed=1)


def test_g62_keywords_are_whole_words_in_any_case() -> None:
    texts = [
        "Covid is here", "the covidien merger", "post-COVID, then", "covid", "a\ncovid\nb",
        "covid19", "novel corona  virus", "a corona virus.", "(c++)", "Ácovid",
    ]  # fmt: skip
    rows = pairs(len(texts), context=texts)

    def found(*words: str) -> list[str]:
        return [texts[int(name[1:])] for name in contexts(with_keywords(rows, words))]

    assert found("covid") == ["Covid is here", "post-COVID, then", "covid", "a\ncovid\nb"]
    assert found("corona virus", "C++") == ["a corona virus.", "(c++)"]
    with refusal("option.bad-value", "keywords ['covid', ' ']"):
        found("covid", " ")


def test_metadata_choose_by_value_and_by_span() -> None:
    facts = [
        {"date": "2020-02-29", "year": "9"}, {"date": "2020-03-01", "year": "10"},
        {"date": "2021-01-01", "year": "11"}, {"topic": "art"},
    ]  # fmt: skip
    rows = pairs(4, metadata=facts, category=["x", "y", None, "x"])

    def found(name: str, **bounds: Any) -> list[str]:
        return contexts(with_metadata(rows, name, **bounds))

    assert found("date", since="2020-03-01") == ["c1", "c2"]
    assert found("date", since="2020-03-01", before="2021-01-01") == ["c1"]
    assert found("year", since="10") == ["c1", "c2"]  # as numbers: "9" is not after "10"
    assert found("topic", values=["art", "law"]) == ["c3"]
    assert found("category", values=["x"]) == ["c0", "c3"]
    assert found("date") == ["c0", "c1", "c2"]


def test_an_entry_of_a_definition_makes_a_set() -> None:
    metadata = [
        {"topic": "art" if number % 2 else "law", "date": "2020-03-01"} for number in range(20)
    ]
    rows = pairs(20, metadata=metadata, context=["Covid"] * 3 + ["text"] * 17)
    entries: list[dict[str, Any]] = [
        {"sample": 5},
        {"sample": 4, "mix": {"topic": {"art": 0.5, "law": 0.5}}, "seed": 3},
        {"keywords": ["covid"], "note": "of any kind"},
        {"metadata": "topic", "values": ["art"]},
        {"metadata": "date", "from": "2020-01-01", "name": "late"},
    ]
    made = [shift_set(rows, next(iter(entry)), entry, seed=1) for entry in entries]

    assert [found.facts["name"] for found in made] == [
        "sample-5", "sample-4-topic", "keywords-covid", "metadata-topic-art", "late",
    ]  # fmt: skip
    assert [found.facts["contexts"] for found in made] == [5, 4, 3, 10, 20]
    assert [found.facts["seed"] for found in made] == [1, 3, None, None, None]
    assert {found.facts["kind"] for found in made} == {"shift"}
    assert made[4].facts["parameters"] == {"metadata": "date", "from": "2020-01-01"}
    assert made[2].facts["note"] == "of any kind"
    whole = {"sets": [dict(found.facts) for found in made]}
    assert not [each for each in check_rows("manifest", [whole]) if each.path.startswith("sets")]


@pytest.mark.parametrize(
    "entry",
    [
        {"keywords": ["zebra"]},
        {"metadata": "topic", "values": ["x"]},
    ],
)
def test_a_set_without_pairs_is_one_error(entry: dict[str, Any]) -> None:
    with refusal("slice.empty"):
        shift_set(pairs(4), next(iter(entry)), entry)
