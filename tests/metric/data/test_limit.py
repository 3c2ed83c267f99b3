"""`--limit`: which tests are drawn, and that it is said how."""

import hashlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nnd.converters.folder import convert
from nnd.metric.data import LIMITED, PairSet, choose_part, load_pairs
from nnd.metric.likelihood import Scoring
from nnd.metric.run import Evaluation, evaluate, merge
from nnd.schemas import DISTINCT, distinct_in_order

PLAIN = Scoring(cache=False, unconditional=False)
SIZES = {"a": 1, "b": 2, "c": 4, "d": 8}
"""Context → its tests; every test of `d` has two error categories."""


def rows() -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "context_id": context,
                "context": f"What is {context}?",
                "high_id": "high",
                "low_id": f"low {number}",
                "candidate_high": "It is a letter.",
                "candidate_low": f"It is {number}.",
                "error_category": category,
            }
            for context, size in SIZES.items()
            for number in range(size)
            for category in (["wrong", "rude"] if context == "d" else ["wrong"])
        ]
    )


def chosen_tests(pairs: PairSet) -> list[tuple[str, str]]:
    return pairs.pairs.select("context_id", "low_id").unique().sort(pl.all()).rows()


def digest(*key: str) -> str:
    return hashlib.sha256("\0".join(key).encode()).hexdigest()


def expected(limit: int) -> list[tuple[str, str]]:
    """The tests in turns of three, without polars."""
    own: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for context, size in SIZES.items():
        own[context] = sorted(
            ((context, f"low {number}") for number in range(size)),
            key=lambda key: digest("", key[0], "high", key[1]),
        )
    drawn = []
    for turn in range(0, max(SIZES.values()), 3):
        for context in sorted(SIZES, key=lambda name: digest("", name)):
            drawn += own[context][turn : turn + 3]
    return sorted(drawn[:limit])


@pytest.mark.parametrize("limit", range(1, 16))
def test_up_to_three_tests_of_each_context_are_drawn_in_turn(limit: int) -> None:
    whole = load_pairs(rows())
    found = choose_part(whole, limit=limit)

    assert chosen_tests(found) == expected(limit)
    assert len(chosen_tests(found)) == limit
    assert found.n_whole == (None if limit == 15 else 15)
    assert ("limit", f"{limit}") in found.part or limit == 15
    if limit <= 1 + 2 + 3 + 3:
        assert (
            found.pairs.select(DISTINCT).unique()["context_id"].value_counts()["count"].max() <= 3
        )
    # A test has all of its pairs, or none.
    kept = whole.pairs.join(found.pairs, on=DISTINCT, how="semi", nulls_equal=True)
    assert kept["pair_id"].to_list() == found.pairs["pair_id"].to_list()
    shuffled = load_pairs(rows().sample(fraction=1, shuffle=True, seed=limit))
    again = choose_part(shuffled, limit=limit)
    assert (again.version, {*again.pairs["pair_id"]}) == (
        found.version,
        {*found.pairs["pair_id"]},
    )


def test_a_limit_that_leaves_out_nothing_is_the_whole() -> None:
    whole = load_pairs(rows())
    assert choose_part(whole, limit=15) == choose_part(whole)
    assert choose_part(whole, limit=8, categories=["rude"]).part == (("category", "rude"),)


def test_200_tests_of_quiz_design_come_from_69_contexts() -> None:
    found = choose_part(load_pairs(convert("quiz_design").pairs), limit=200)
    assert distinct_in_order(found.pairs).height == 200
    assert found.pairs["context_id"].n_unique() == 69


def test_it_is_said_how_tests_were_drawn(saved: Callable[[str], Path], tmp_path: Path) -> None:
    gpt2 = str(saved("gpt2"))

    def run(**chosen: Any) -> Evaluation:
        found = evaluate(gpt2, rows(), scoring=PLAIN, **chosen)
        assert isinstance(found, Evaluation)
        return found

    part, whole = run(limit=8), run()
    assert part.remarks()[0] == f"{LIMITED}, of 4 contexts"
    assert f": {LIMITED}" in "\n".join(map(str, part.details()))
    assert LIMITED not in " ".join([*whole.results[0].notes, *map(str, whole.remarks())])
    assert "|limit:8|" in part.results[0].signature
    rows().write_parquet(tmp_path / "letters.parquet")
    data, out = tmp_path / "letters.parquet", tmp_path / "run"
    evaluate(gpt2, data, out=out, worker=(1, 1), limit=8, scoring=PLAIN)
    merged = merge(out)
    assert merged.results[0].notes == part.results[0].notes
    assert merged.remarks()[0] == part.remarks()[0]
    assert LIMITED not in " ".join(map(str, part.remarks()[1:]))
