"""Bins of numbers: half-open, the last closed; percentages; tenths."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from support.refusals import refusal

from nnd.metric.numbers import slice_names
from nnd.metric.numbers.slices.axes import read_axes
from nnd.metric.numbers.slices.bins import Bins, sort_into, sort_into_tenths


def sort(values: list[float], by: str) -> Bins:
    (axis,) = read_axes([f"margin{by}"])
    return sort_into(np.array(values), axis.edges or (), np.ones(len(values), dtype=np.bool_))


def sizes(values: list[float], by: str) -> list[int]:
    names, places = sort(values, by)
    counts = Counter(places.tolist())
    return [counts[place] for place in range(len(names))]


def test_g21_a_value_on_an_edge_is_in_one_bin_only() -> None:
    names, places = sort([-1, 0, 9.9, 10, 20, 20.1, float("nan")], "=0,10,20")
    assert names == ("[0,10)", "[10,20]")
    assert places.tolist() == [-1, 0, 0, 1, 1, -1, -1]


def test_g29_percentages_hold_their_share_of_distinct_values() -> None:
    hundred = [float(value) for value in range(100)]
    assert sort(hundred, "=90%,100%")[0] == ("[90,99]",)
    assert sizes(hundred, "=90%,100%") == [10]
    assert sizes(hundred, "=0%,29%,90%") == [29, 61]  # 0.29 * 100 is 28.999… in floats
    assert sizes(hundred, ":quantiles=3") == [34, 33, 33]
    assert sizes([1, 2, 3, 4, 5, 6, 7], "=0%,50%,100%") == [4, 3]


def test_equal_values_share_a_bin() -> None:
    assert sort([1, 2, 2, 2], ":quantiles=4")[0] == ("[1,2)", "[2,2]")
    assert sizes([1, 2, 2, 2], ":quantiles=4") == [1, 3]
    assert sizes([5, 5, 5], ":quantiles=4") == [3]
    assert sort([5, 5, 5], "=0%,50%")[0] == ("[5,5)",)


def test_tests_of_several_pairs_count_once_for_percentages() -> None:
    (axis,) = read_axes(["margin=0%,50%,100%"])
    values, distinct = (
        np.array([1.0, 1, 1, 2, 3, 4]),
        np.array([True, False, False, True, True, True]),
    )
    names, places = sort_into(values, axis.edges or (), distinct)
    assert names == ("[1,3)", "[3,4]")
    assert places.tolist() == [0, 0, 0, 0, 1, 1]


def test_g23_novelty_has_eleven_bins_of_which_the_first_is_0() -> None:
    names, places = sort_into_tenths(np.array([0, 0.05, 3 / 30, 6 / 20, 0.31, 1, float("nan")]))
    assert len(names) == 11
    assert (names[0], names[1], names[-1]) == ("0", "(0,0.1]", "(0.9,1]")
    assert places.tolist() == [0, 1, 1, 3, 4, 10, -1]


def test_edges_that_differ_have_names_that_differ() -> None:
    assert sort([1.0], "=1.00001,1.00002,1.00003")[0] == (
        "[1.00001,1.00002)",
        "[1.00002,1.00003]",
    )


def test_a_list_of_axes_may_hold_edges() -> None:
    axes = read_axes(["category,length:words=0, 10,20,shape:high", "novelty:low"])
    assert [axis.title for axis in axes] == [
        "category",
        "length:words",
        "shape:high",
        "novelty:low",
    ]
    assert [axis.words for axis in axes] == [(), ("words", "context"), ("high",), ("low",)]
    assert [None if axis.edges is None else len(axis.edges) for axis in axes] == [
        None,
        3,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("by", "code"),
    [
        ("", "input.missing"),
        ("length,length", "name.twice"),
        ("length=5", "slice.edges"),
        ("length=20,10", "slice.edges"),
        ("length=0,0", "slice.edges"),
        ("length=0,50%", "slice.edges"),
        ("length=50%,120%", "slice.edges"),
        ("ten", "name.unknown"),
        ("length=ten", "slice.edges"),
        ("length:word", "option.unknown-value"),
        ("length:words:tokens", "option.conflict"),
        ("length:quantiles=0", "slice.edges"),
        ("length:quantiles", "slice.edges"),
        ("aspect=0,1", "option.conflict"),
    ],
)
def test_what_is_no_axis_is_one_clear_error(by: str, code: str) -> None:
    with refusal(code):
        slice_names(pl.DataFrame({"pair_id": ["a"], "context": ["x"], "inputs": [None]}), by)
