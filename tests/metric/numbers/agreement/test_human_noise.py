"""How much noise human scores have: which systems they separate, and the ceiling."""

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nnd.converters.folder.conversion import convert
from nnd.metric.data import find_judgements
from nnd.metric.numbers.agreement.human_noise import HumanNoise, find_noise
from nnd.schemas import read_systems


def judged(scores: dict[str, list[Any]], aspect: str = "q") -> pl.DataFrame:
    """System → what it got in contexts c0, c1 …: a number, or the ratings behind it."""
    rows = [
        (aspect, system, "test", f"c{place:02}", score)
        for system, of_contexts in scores.items()
        for place, score in enumerate(of_contexts)
        if score is not None
    ]
    return pl.DataFrame(
        [
            (*key, sum(score) / len(score), score)
            if isinstance(score, list)
            else (*key, score, None)
            for *key, score in rows
        ],
        {
            **dict.fromkeys(("aspect", "system", "split", "context_id"), pl.String),
            "number": pl.Float64,
            "ratings": pl.List(pl.Float64),
        },
        orient="row",
    )


def noise(numbers: pl.DataFrame) -> HumanNoise:
    """The noise, which is known."""
    found = find_noise(numbers, sorted(numbers["system"].unique()))
    assert found is not None
    return found


def test_systems_are_separable_by_flipping_the_signs_of_contexts() -> None:
    # a - b is 1 in six contexts: of 2^6 flips, 2 have a sum of 6 or -6: p = 2 / 64 < 0.05.
    # a - c is 1 in five: p = 2 / 32 > 0.05. b - c is -1 in one: p = 1.
    found = noise(judged({"a": [1.0] * 6, "b": [0.0] * 6, "c": [0.0] * 5 + [1.0]}))

    assert (found.pairs, found.separable, found.ceiling) == (3, 1, None)
    assert found.sentence() == (
        "People's own scores differ significantly for 1 of the 3 pairs of these systems "
        "(sign flips over contexts, p < 0.05)"
    )


def test_only_contexts_in_which_both_were_judged_are_compared() -> None:
    numbers = judged({"a": [1.0] * 7, "b": [None, *[0.0] * 6], "c": [None] * 7 + [1.0]})

    found = noise(numbers)

    assert (found.pairs, found.separable) == (1, 1)  # c shares a context with neither
    assert find_noise(numbers, ["a", "c"]) is None
    assert find_noise(numbers, []) is None


def test_a_difference_is_the_mean_over_the_aspects() -> None:
    # Per context 1 and -1: nothing is left of it. With the first aspect alone: 2 / 64.
    one, other = {"a": [1.0] * 6, "b": [0.0] * 6}, {"a": [0.0] * 6, "b": [1.0] * 6}
    assert noise(judged(one)).separable == 1
    assert noise(pl.concat([judged(one), judged(other, "r")])).separable == 0


def test_the_ceiling_of_annotators_is_that_of_spearman_and_brown() -> None:
    # Two annotators are the halves; their means of the four systems are 1, 2, 3, 4 and 1, 3, 2, 4:
    # r = (1.5 * 1.5 + .5 * -.5 + .5 * -.5 + 1.5 * 1.5) / 5 = 4 / 5, tau (5 - 1) / 6.
    # Reliability 2 * 0.8 / 1.8 = 8 / 9, ceiling its square root.
    first, second = [1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]
    ratings = zip("abcd", first, second, strict=True)
    found = noise(judged({system: [[one, other]] * 2 for system, one, other in ratings})).ceiling

    assert found is not None
    assert (found.halves_of, found.splits) == ("annotators", 1)
    assert found.between_halves_r == pytest.approx(0.8)
    assert found.between_halves_tau_b == pytest.approx(2 / 3)
    assert found.reliability == pytest.approx(8 / 9)
    assert found.gap_r == pytest.approx(math.sqrt(8 / 9))


def test_of_three_annotators_each_is_compared_with_each() -> None:
    # Means 1 2 3 4, 1 3 2 4 and 4 3 2 1 of four systems: r = 0.8, -1 and -0.8, mean -1 / 3.
    by_annotator = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0], [4.0, 3.0, 2.0, 1.0])
    numbers = judged(
        {s: [[*r]] for s, r in zip("abcd", zip(*by_annotator, strict=True), strict=True)}
    )
    found = noise(numbers).ceiling

    assert found is not None
    assert (found.splits, found.between_halves_r) == (3, pytest.approx(-1 / 3))
    assert (found.reliability, found.gap_r) == (0.0, 0.0)  # halves do not agree at all


def test_without_ratings_the_contexts_are_halved() -> None:
    # Of four contexts, the halves are three pairs of pairs. By hand for {c0, c1} and {c2, c3}:
    # sums (2, 1, 1, 0) and (2, 2, 0, 0): centred (1, 0, 0, -1) and (1, 1, -1, -1), r = 2 / sqrt(8).
    # {c0, c2}, {c1, c3}: (2, 2, 1, 0), (2, 1, 0, 0); {c0, c3}, {c1, c2}: the same two, swapped...
    scores = {"a": [1, 1, 1, 1], "b": [1, 0, 1, 1], "c": [1, 0, 0, 0], "d": [0, 0, 0, 0]}
    numbers = judged({system: [float(n) for n in row] for system, row in scores.items()})

    def r(x: list[int], y: list[int]) -> float:
        mean_x, mean_y = sum(x) / 4, sum(y) / 4
        dot = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
        norm = sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)
        return dot / math.sqrt(norm)

    of_splits = [
        r(*([sum(row[c] for c in half) for row in scores.values()] for half in (one, other)))
        for one in combinations(range(4), 2)
        if 0 in one
        for other in [tuple({*range(4)} - {*one})]
    ]
    found = noise(numbers).ceiling

    assert found is not None
    assert of_splits[0] == pytest.approx(2 / math.sqrt(8))
    assert (found.halves_of, found.splits) == ("contexts", 3)
    assert found.between_halves_r == pytest.approx(sum(of_splits) / 3)


def test_signs_of_whole_clusters_are_flipped_and_clusters_are_halved() -> None:
    # a - b is 1 in 12 contexts of 4 paragraphs: 2 of 2^4 flips, where 2 of 2^12 are over contexts.
    numbers = judged({"a": [1.0] * 12, "b": [0.0] * 12, "c": [0.0] * 12, "d": [0.5] * 12})
    assert noise(numbers).separable == 5
    places = numbers["context_id"].str.slice(1).cast(pl.Int64) // 3
    clustered = numbers.with_columns(cluster=pl.format("paragraph:{}", places))
    found = noise(clustered)

    assert (found.pairs, found.separable, found.over) == (6, 0, "clusters")
    assert "(sign flips over clusters, p < 0.05)" in found.sentence()
    assert found.ceiling is not None
    assert (found.ceiling.halves_of, found.ceiling.splits) == ("clusters", 3)
    assert noise(numbers.with_columns(cluster=pl.lit(None, pl.String))) == noise(numbers)


def test_the_order_of_the_rows_does_not_matter() -> None:
    scores = {
        s: [float((place * k) % 7) for place in range(30)]
        for s, k in zip("abcd", (1, 2, 3, 5), strict=True)
    }
    numbers = judged(scores)

    assert noise(numbers) == noise(numbers.sample(fraction=1, shuffle=True, seed=1))


# Counts of ../shared/facts/fresh.md H1, made there by |z| > 1.96.
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("source", "chosen", "category", "systems", "expected"),
    [
        ("fib", None, "overall", "", (21, 18)),
        ("ragtruth", "faithjudge", "overall", "llama", (3, 3)),
        ("ragtruth", "faithjudge", "overall", "llama|mistral", (6, 5)),
        ("qgeval", "hotpotqa", "answer_consistency", "", (45, 22)),
        ("qgeval", "hotpotqa", "answer_consistency", "finetune", (15, 4)),
        ("qgeval", "hotpotqa", "overall", "", (45, 13)),
        ("faithbench", None, "overall", "7B|8B|mini", (6, 0)),
    ],
)
def test_people_separate_as_many_systems_as_counted_independently(
    *,
    source: str,
    chosen: str | None,
    category: str,
    systems: str,
    expected: tuple[int, int],
    nnd_data: Path,
    converted: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if source not in converted:
        names = {"ragtruth": "ragtruth_faithjudge"}
        converted[source] = tmp_path_factory.mktemp(source) / source
        origin = nnd_data / names.get(source, source)
        convert(source, origin=origin, set_name=chosen, out=converted[source])
    judgements = find_judgements(converted[source])
    assert judgements is not None
    loadable = [
        name
        for name, system in read_systems(judgements.source).items()
        if system.checkpoint and any(part in name for part in systems.split("|"))
    ]

    found = find_noise(judgements.numbers(category, None), loadable)

    assert found is not None
    assert (found.pairs, found.separable) == expected


@pytest.fixture(scope="module")
def converted() -> dict[str, Path]:
    """Sources that were converted before."""
    return {}
