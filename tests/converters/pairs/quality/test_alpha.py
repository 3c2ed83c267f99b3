"""Krippendorff's alpha, against his own example and against every pair of values compared."""

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import permutations
from typing import Any

import polars as pl
import pytest

from nnd.converters.pairs.quality.alpha import Level, annotator_agreement, krippendorff_alpha

Annotated = Callable[..., pl.DataFrame]

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve
# units, and results 0.743 (nominal) and 0.849 (interval).
OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def units(rows: Sequence[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        for unit, value in enumerate(row.split()):
            if value != ".":
                found[str(unit)].append(float(value))
    return found


def frame(values: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    rows = [("test", unit, None, value) for unit, some in values.items() for value in some]
    return pl.DataFrame(rows, ["split", "candidate_id", "part", "value"], orient="row")


def brute_force(values: Mapping[str, Sequence[Any]], apart: Callable[[Any, Any], float]) -> float:
    """By the definition: all ordered pairs of values, within units and among all of them."""
    pairable = [some for some in values.values() if len(some) > 1]
    everything = [value for some in pairable for value in some]
    n = len(everything)
    observed = sum(
        sum(apart(one, other) for one, other in permutations(some, 2)) / (len(some) - 1)
        for some in pairable
    )
    expected = sum(apart(one, other) for one, other in permutations(everything, 2)) / (n - 1)
    return 1 - observed / expected


def squared(one: float, other: float) -> float:
    return (one - other) ** 2


def unequal(one: Hashable, other: Hashable) -> float:
    return float(one != other)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("interval", 0.849)])
def test_krippendorffs_own_example(level: Level, alpha: float) -> None:
    found = krippendorff_alpha(frame(units(OBSERVERS)), level)

    assert round(found["alpha"], 3) == alpha
    # The last unit has one value, so that it has nothing to agree with.
    assert (found["n_units"], found["n_ratings"]) == (11, 40)


def test_a_small_case_by_hand() -> None:
    # Units (1, 2), (3, 3), (5): n = 4. Within units, both ways: 2 · 1² = 2, so D_o = 2 / 4 = 0.5.
    # All of 1, 2, 3, 3: 2 · (1 + 4 + 4 + 1 + 1 + 0) = 22, so D_e = 22 / 12; alpha = 1 - 6 / 22.
    found = krippendorff_alpha(frame({"a": [1, 2], "b": [3, 3], "c": [5]}), "interval")

    assert found["alpha"] == pytest.approx(1 - 6 / 22, abs=1e-15)
    assert (found["n_units"], found["n_ratings"]) == (2, 4)


@pytest.mark.parametrize(("level", "apart"), [("interval", squared), ("nominal", unequal)])
@pytest.mark.parametrize("seed", range(5))
def test_the_closed_forms_are_the_definition(
    level: Level, apart: Callable[[Any, Any], float], seed: int
) -> None:
    chance = random.Random(seed)
    values = {
        str(unit): [chance.choice([-1.5, 0.1, 0.1, 2, 7]) for _ in range(chance.randint(1, 5))]
        for unit in range(40)
    }

    found = krippendorff_alpha(frame(values), level)["alpha"]

    assert found == pytest.approx(brute_force(values, apart), abs=1e-12)


@pytest.mark.parametrize("level", ["interval", "nominal"])
def test_the_order_of_the_rows_does_not_matter(level: Level) -> None:
    chance = random.Random(0)
    values = frame({str(unit): [chance.random(), chance.random()] for unit in range(500)})
    shuffled = values.sample(fraction=1, shuffle=True, seed=1).sort("value")  # within units, too
    in_order = values.sort("value").sample(fraction=1, shuffle=True, seed=2).sort("value")

    assert krippendorff_alpha(shuffled, level) == krippendorff_alpha(in_order, level)


@pytest.mark.parametrize("level", ["interval", "nominal"])
def test_one_value_throughout_has_no_alpha(level: Level) -> None:
    # The mean of three 0.1 is not 0.1 in floating point, and 7 has nothing beside it.
    found = krippendorff_alpha(frame({"a": [0.1] * 3, "b": [0.1] * 2, "c": [7.0]}), level)

    assert found == {"level": level, "n_units": 2, "n_ratings": 5, "alpha": None}


def test_ratings_are_an_interval_under_each_aspect(annotated: Annotated) -> None:
    rows = pl.concat(
        [
            annotated("ratings", ("a", [1.0, 2.0]), ("b", [3.0, 3.0]), ("c", [5.0]), aspect="x"),
            annotated("ratings", ("a", [4.0, 4.0]), ("b", [2.0, 2.0]), ("c", None), aspect="y"),
            annotated("score", ("a", 4.0), aspect="z"),
        ]
    )

    assert annotator_agreement(rows) == {
        "x": {"level": "interval", "n_units": 2, "n_ratings": 4, "alpha": 1 - (2 / 4) / (22 / 12)},
        "y": {"level": "interval", "n_units": 2, "n_ratings": 4, "alpha": 1.0},
    }


def test_ratings_beside_several_labels_count_once(annotated: Annotated) -> None:
    rows = annotated("label", ("a", "rude"), ("a", "wrong"), ratings=[1.0, 2.0])
    rows = pl.concat([rows, annotated("label", ("b", "wrong"), ratings=[3.0, 3.0])])

    assert annotator_agreement(rows)["answer"]["n_ratings"] == 4


def test_raters_that_are_groups_rate_the_same_candidate(annotated: Annotated) -> None:
    rows = pl.concat(
        annotated("ratings", ("a", [one]), ("b", [other]), group=name, annotators=[name])
        for name, one, other in (("a1", 1.0, 3.0), ("a2", 2.0, 3.0))
    )

    assert annotator_agreement(rows)["answer"]["alpha"] == pytest.approx(1 - (2 / 4) / (22 / 12))


def test_votes_on_two_pairs_of_a_candidate_are_two_units(annotated: Annotated) -> None:
    # a beats b by 2 of 2 votes, and c beats a by 2 of 2: no one disagrees.
    rows = pl.concat(
        annotated("ratings", (high, [1.0, 1.0]), (low, [-1.0, -1.0]), group=high + low)
        for high, low in ("ab", "ca")
    )

    assert annotator_agreement(rows)["answer"] == {
        "level": "interval",
        "n_units": 4,
        "n_ratings": 8,
        "alpha": 1.0,
    }


def test_labels_of_annotators_are_nominal_and_several_of_one_are_one_value(
    annotated: Annotated,
) -> None:
    # a: a1 and a2 agree on two labels. b: good against wrong. c: who said it is not known.
    rows = pl.concat(
        [
            annotated("label", ("a", "rude"), ("a", "wrong"), annotators=["a1", "a2"]),
            annotated("label", ("b", "good"), annotators=["a1"]),
            annotated("label", ("b", "wrong"), annotators=["a3"]),
            annotated("label", ("c", "good")),
        ]
    )

    # n = 4 values {rw, rw, g, w}: D_o = 2 / 4. Of 12 ordered pairs 2 are equal: D_e = 10 / 12.
    assert annotator_agreement(rows) == {
        "answer": {"level": "nominal", "n_units": 2, "n_ratings": 4, "alpha": 1 - 0.5 / (10 / 12)}
    }


def test_what_one_annotator_judged_alone_tells_nothing_of_agreement(annotated: Annotated) -> None:
    rows = annotated("label", ("a", "good"), ("b", "wrong"), annotators=["a1"])

    assert annotator_agreement(rows) == {}
