"""Pairs are cut by context: no context, and nothing derived from one, is on both sides."""

import polars as pl
import pytest

from nnd.schemas.contract.cutting import cut_by_context
from nnd.schemas.words.errors import NNDError


def pairs(n: int, *, per_context: int = 2) -> pl.DataFrame:
    """Pairs of n contexts, rows of one context together."""
    rows = [
        {"context_id": f"c{number}", "context": f"text {number}", "candidate_high": f"good {place}"}
        for number in range(n)
        for place in range(per_context)
    ]
    schema = dict.fromkeys(("context_id", "context", "candidate_high", "cluster"), pl.String)
    return pl.DataFrame(rows, schema)


def side_of(frame: pl.DataFrame, share: float, seed: int = 0) -> dict[str, bool]:
    """The side of each context, which is the same for all its rows."""
    sides = frame.with_columns(side=cut_by_context(frame, share, seed=seed))
    assert sides.group_by("context_id").agg(pl.col("side").n_unique())["side"].max() == 1
    return dict(sides.select("context_id", "side").iter_rows())


def test_about_the_share_is_to_train_on_and_a_larger_share_holds_a_smaller_one() -> None:
    frame = pairs(1000)
    half, most = side_of(frame, 0.5), side_of(frame, 0.8)
    assert 450 < sum(half.values()) < 550
    assert 760 < sum(most.values()) < 840
    assert all(most[context] for context, trained in half.items() if trained)


def test_the_side_depends_on_name_and_seed_alone() -> None:
    frame = pairs(100)
    assert side_of(frame.reverse(), 0.5) == side_of(frame, 0.5)
    part = frame.head(60)
    assert side_of(part, 0.5).items() <= side_of(frame, 0.5).items()
    assert side_of(frame, 0.5, seed=1) != side_of(frame, 0.5)


def test_contexts_of_one_text_and_pairs_of_one_human_context_are_on_one_side() -> None:
    frame = pairs(40, per_context=1)
    number = pl.int_range(pl.len())
    twins = frame.with_columns(context="text " + pl.concat_str(number // 2))
    sides = [*side_of(twins, 0.5).values()]
    assert sides[::2] == sides[1::2]
    derived = frame.with_columns(cluster="k" + pl.concat_str(number // 2))
    sides = [*side_of(derived, 0.5).values()]
    assert sides[::2] == sides[1::2]
    assert [*side_of(frame, 0.5).values()][::2] != [*side_of(frame, 0.5).values()][1::2]


def test_texts_that_differ_in_blanks_are_one() -> None:
    frame = pairs(30, per_context=1)
    blanks = frame.with_columns(
        context_id=pl.col("context_id") + "~blank", context="  " + pl.col("context") + "\n"
    )
    both = pl.concat([frame, blanks])
    sides = cut_by_context(both, 0.5).to_list()
    assert sides[:30] == sides[30:]


def test_at_least_two_contexts_are_held_out() -> None:
    for seed in range(20):
        sides = side_of(pairs(6), 0.9, seed)
        assert [*sides.values()].count(False) >= 2
    two, more = side_of(pairs(30), 0.999), side_of(pairs(30), 0.5)
    assert [*two.values()].count(False) == 2
    assert {name for name, trained in two.items() if not trained} <= {
        name for name, trained in more.items() if not trained
    }


def test_pairs_without_a_context_are_apart_unless_they_share_the_better_candidate() -> None:
    frame = pairs(40, per_context=1).with_columns(
        context=pl.lit(" "), candidate_high="good " + pl.concat_str(pl.int_range(pl.len()) // 2)
    )
    sides = [*side_of(frame, 0.5).values()]
    assert sides[::2] == sides[1::2]
    assert 4 < sum(sides) < 36


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(NNDError, match="give a share between 0 and 1"):
        cut_by_context(pairs(5), share)


@pytest.mark.parametrize(
    ("share", "n", "said"),
    [
        (0.001, 3, r"left to train on \(3 distinct in all, at least 2 held out\)"),
        (0.5, 2, "2 distinct in all"),
        (0.5, 1, "1 distinct in all"),
        (0.5, 0, "0 distinct in all"),
    ],
)
def test_an_empty_side_is_an_error(share: float, n: int, said: str) -> None:
    with pytest.raises(NNDError, match=said):
        cut_by_context(pairs(n), share)
