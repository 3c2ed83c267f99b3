"""Which slices a pair is in."""

from typing import Any

import polars as pl
import pytest
from support.refusals import refusal

from nnd.metric.numbers import slice_names, where_true
from nnd.metric.numbers.slices.conditions import combine
from nnd.schemas import polars_schema

BASE: dict[str, Any] = {
    "source": "made_up",
    "split": "test",
    "language": "en",
    "inputs": [],
    "aspect": "quality",
    "error_category": "wrong",
    "origin": "human",
    "metadata": [],
}


def made(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Pairs with ids p0, p1, …, each of a context and of candidates of its own."""
    return pl.DataFrame(
        [
            {
                **BASE,
                "pair_id": f"p{n}",
                "context_id": f"c{n}",
                "context": "the cat",
                "high_id": f"h{n}",
                "low_id": f"l{n}",
                "candidate_high": "a cat",
                "candidate_low": "a dog",
                **row,
            }
            for n, row in enumerate(rows)
        ],
        polars_schema("pair"),
    )


def named(pairs: pl.DataFrame, by: str, **options: Any) -> dict[str, list[str]]:
    rows = slice_names(pairs, by, **options)
    return {
        name: rows.filter(pl.col("slice") == name)["pair_id"].to_list()
        for name in rows["slice"].unique(maintain_order=True)
    }


def test_g20_a_pair_counts_in_each_of_its_names() -> None:
    pairs = made(
        [
            {"system_high": "a", "system_low": "b"},
            {"system_high": "b|c", "system_low": "a"},
            {"system_high": "c", "system_low": "c", "language": "de"},
        ]
    )
    assert named(pairs, "system") == {
        "system=a": ["p0", "p1"],
        "system=b": ["p0", "p1"],
        "system=c": ["p1", "p2"],
    }
    assert named(pairs, "language") == {"language=de": ["p2"], "language=en": ["p0", "p1"]}


def test_categories_are_those_of_contexts_or_else_of_errors() -> None:
    pairs = made([{"error_category": "b"}, {"error_category": "a"}])
    assert named(pairs, "category") == {"category=a": ["p1"], "category=b": ["p0"]}
    with_category = pairs.with_columns(category=pl.Series(["news", None]))
    assert named(with_category, "category") == {"category=news": ["p0"]}


def test_parts_of_inputs_and_metadata_are_axes_by_name() -> None:
    def parts(**values: str) -> list[dict[str, str]]:
        return [{"key": key, "value": value} for key, value in values.items()]

    pairs = made(
        [
            {"inputs": parts(topic="birds"), "metadata": parts(year="2019")},
            {"inputs": parts(topic="trees"), "metadata": parts(year="2021", topic="hidden")},
            {"metadata": parts(topic="trees")},
        ]
    )
    assert named(pairs, "topic") == {"topic=birds": ["p0"], "topic=trees": ["p1", "p2"]}
    assert named(pairs, "year=2019,2020,2022") == {
        "year=[2019,2020)": ["p0"],
        "year=[2020,2022]": ["p1"],
    }
    with refusal("name.unknown", '--by "topics"'):
        slice_names(pairs, "topics")
    with refusal("option.conflict", '--by "topic"'):
        slice_names(pairs, "topic=0,1")


def test_an_axis_of_too_many_names_is_refused() -> None:
    pairs = made([{"error_category": f"e{n}"} for n in range(101)])
    with refusal("slice.too-many-values", '--by "error_category"'):
        slice_names(pairs, "error_category")


def test_g26_margins_and_agreement_are_counted_by_hand() -> None:
    pairs = made([{"margin": 0.5}, {"margin": 2.0}, {"margin": None}])
    assert named(pairs, "margin=0,1,2") == {"margin=[0,1)": ["p0"], "margin=[1,2]": ["p1"]}

    ratings = {"h0": [5, 5, 4], "l0": [1, 4], "h1": [3], "l1": [3], "h2": [2], "l2": None}
    annotations = pl.DataFrame(
        [
            {"split": "test", "context_id": f"c{each[1]}", "candidate_id": each}
            | {"aspect": "quality", "group": None, "ratings": values}
            for each, values in ratings.items()
        ],
        schema_overrides={"ratings": pl.List(pl.Float64), "group": pl.String},
    )
    # p0: of 3 * 2 pairs of ratings 5 say that the high one is better, and 4 against 4 is a half
    assert pytest.approx(0.9167, abs=1e-4) == 5.5 / 6
    found = named(pairs, "agreement=0,0.5,0.9166,0.9167,1", annotations=annotations)
    assert found == {"agreement=[0.5,0.9166)": ["p1"], "agreement=[0.9166,0.9167)": ["p0"]}
    with refusal("data.not-converted", "agreement"):
        slice_names(pairs, "agreement")
    with refusal("slice.empty", '--by "margin"'):
        slice_names(made([{}]), "margin")


def test_texts_are_measured_where_they_are_named() -> None:
    pairs = made(
        [
            {"context": "four words are here", "candidate_high": "3 words", "candidate_low": "no"},
            {"context": "one. two", "candidate_high": "one", "candidate_low": "who? me"},
        ]
    )
    assert named(pairs, "length:words=1,3,9") == {
        "length:words=[1,3)": ["p1"],
        "length:words=[3,9]": ["p0"],
    }
    assert named(pairs, "sentences:low=1,2,9") == {
        "sentences:low=[1,2)": ["p0"],
        "sentences:low=[2,9]": ["p1"],
    }
    assert named(pairs, "shape:low") == {
        "shape:low=negation": ["p0"],
        "shape:low=question word": ["p1"],
    }
    assert named(pairs, "novelty,novelty:low") == {
        "novelty=0": ["p1"],
        "novelty=(0.4,0.5]": ["p0"],  # "3" is new, "words" is not
        "novelty:low=(0.9,1]": ["p0", "p1"],
    }
    assert named(pairs, "nearness:lengths=0,0.6,1") == {
        "nearness:lengths=[0,0.6)": ["p1"],  # 3 of 7 characters
        "nearness:lengths=[0.6,1]": ["p0"],  # 2 of 7
    }


def test_candidates_are_those_of_the_whole_context() -> None:
    pairs = made(
        [
            {"context_id": "c", "high_id": "a", "low_id": "b"},
            {"context_id": "c", "high_id": "a", "low_id": "d"},
            {"context_id": "d", "high_id": "a", "low_id": "b"},
        ]
    )
    assert named(pairs, "candidates=2,3,4") == {
        "candidates=[2,3)": ["p2"],
        "candidates=[3,4]": ["p0", "p1"],
    }


def test_g28_algebra_is_that_of_sets_in_the_order_of_the_pairs() -> None:
    pairs = made([{"context": "x" * n, "error_category": "ab"[n % 2]} for n in range(1, 9)])
    whole = slice_names(pairs, "error_category,length=1,4,8")
    names = whole["slice"].unique(maintain_order=True).to_list()
    sets = {name: {*whole.filter(pl.col("slice") == name)["pair_id"]} for name in names}
    ids = pairs["pair_id"]
    members = {name: ids.is_in([*pairs_in]).to_numpy() for name, pairs_in in sets.items()}
    for sign, of_sets in (("&", set.__and__), ("|", set.__or__), ("-", set.__sub__)):
        for a in names:
            for b in names:
                found = ids.filter(combine(f"{a} {sign} {b}", members)).to_list()
                assert {*found} == of_sets(sets[a], sets[b])
                assert found == sorted(found)
    three = combine("error_category=a | error_category=b - length=[1,4)", members)
    assert {*ids.filter(three)} == {*ids} - sets["length=[1,4)"]  # from left to right
    for wrong in ("error_category=c", "error_category=a &", "error_category=a + error_category=b"):
        with refusal("name.unknown"):
            combine(wrong, members)


def test_a_part_is_numbers_where_it_is_compared_with_a_number() -> None:
    parts = [[{"key": "year", "value": year}] for year in ("900", "2020", "")]
    pairs = made([{"metadata": part} for part in parts])
    assert where_true(pairs, "year >= 1000").tolist() == [False, True, False]
    assert where_true(pairs, "year BETWEEN 0.5 AND 1e3").tolist() == [True, False, False]
    assert where_true(pairs, "year >= '1000'").tolist() == [True, True, False]
    with refusal("name.unknown"):
        where_true(pairs, "lenght > 3")


def test_a_condition_reads_columns_measures_and_parts() -> None:
    topic = [{"key": "topic", "value": "birds"}]
    pairs = made([{"context": "x" * n, "metadata": topic[: n - 1]} for n in (1, 2, 3)])
    assert where_true(pairs, "length >= 2").tolist() == [False, True, True]
    assert where_true(pairs, "topic = 'birds' AND novelty = 1").tolist() == [False, True, True]
    assert where_true(pairs, "context LIKE 'xx%' AND margin > 1").tolist() == [False] * 3
    assert where_true(pairs, "length > AVG(length)").tolist() == [False, False, True]


@pytest.mark.parametrize(
    "condition",
    [
        "length >",
        "1 = 1",
        "length",
        "SUM(length) > 2",
        "context > 3",
        "pair_id IN (SELECT pair_id FROM read_csv('x.csv'))",
        "context < CURRENT_DATE",
        # Each of these ended the process, or did not answer within 20 s.
        "LPAD(context, 1000000000, 'x') = 'y'",
        "'y' = rpad(context, 1000000000, 'x')",
        "length IN (SELECT * FROM generate_series(1, 1000000000))",
        "1" + "+1" * 60_000 + " = length",
        "context||" * 450 + "'x' = 'y'",
        "length" + "*length" * 500 + " > 1",
        "REPLACE(" * 3 + "context" + f", 'e', '{'e' * 900}')" * 3 + " = 'x'",
    ],
)
def test_a_condition_that_is_none_is_one_clear_error(condition: str) -> None:
    with refusal("expression.invalid", f'--where "{condition[:9]}'):
        where_true(made([{}, {}, {}]), condition)
