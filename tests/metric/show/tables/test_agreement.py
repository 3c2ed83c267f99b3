"""Tables of agreement: what is in which cell."""

from support.screens.tables import lines, row

from nnd.metric.numbers.statistics.extrapolation import extrapolate
from nnd.metric.show.tables.agreement import correlations_table, extrapolation_tables, points_table


def test_points_are_all_there_is_of_few_systems() -> None:
    table = points_table([("org/ant", "A", "40.0", "0.412")], "pass rate, %")
    assert lines(table)[0] == "model system pass rate, % human score"
    assert row(table, "org/ant") == "A 40.0 0.412"


def test_a_row_per_category() -> None:
    values = {"tau_b": 0.5, "gap_r": 0.61}
    none = dict.fromkeys(values)
    found = {
        "n": 4,
        "intervals": {"gap_r": [-0.25, 0.9]},
        "p_values": {"gap_r": 0.25},
        **values,
    }
    table = correlations_table(
        {
            "by_category": {"overall": found, "odd": {**found, **none, "intervals": none}},
            "mean": values,
            "mean_intervals": none,
            "mean_p_values": {"gap_r": None},
        }
    )
    assert row(table, "overall") == "4 0.500 0.610 [-0.25, 0.90] 0.2500"
    assert row(table, "odd") == "4 n/a n/a 0.2500"
    assert row(table, "mean over categories") == "0.500 0.610 n/a"
    assert row(table, "category") == "systems tau-b gap r [95 % interval] p"


def test_without_an_interval_the_title_promises_none() -> None:
    values = {"tau_b": 0.5, "gap_r": 0.61}
    without = {"intervals": {"gap_r": None}, "p_values": {"gap_r": 0.25}, **values}
    table = correlations_table(
        {
            "by_category": {"overall": {"n": 4, **without}},
            "mean": values,
            "mean_intervals": without["intervals"],
            "mean_p_values": without["p_values"],
        }
    )
    assert row(table, "category") == "systems tau-b gap r p"
    assert row(table, "overall") == "4 0.500 0.610 0.2500"


def predicted(rates: list[float], scores: list[float]) -> str:
    found = extrapolate(rates, scores, {"new": 0.6}).to_dict()
    agreement = {"by_category": {"c": {"extrapolation": found}}, "unmatched": ["new"]}
    (table,) = extrapolation_tables(agreement)
    return row(table, "c new")


def test_a_line_that_one_system_carries_has_no_leave_one_out_error() -> None:
    # Without the last the rates are all equal. Guessing the mean of the other three misses each of
    # the scores by 4/3 of their distance from the mean 2.5: 4/3 sqrt((2.25 + 0.25) / 2) = 1.491.
    shown = predicted([0.5, 0.5, 0.5, 0.7], [1, 2, 3, 4])
    assert shown.endswith(
        " n/a (guessing the mean 1.49) the fit depends on one system: no leave-one-out error"
    )


def test_a_line_that_is_no_better_than_the_mean() -> None:
    # Scores at the corners of a square: the slope is 0.
    assert predicted([0.5, 0.5, 0.7, 0.7], [1, 2, 1, 2]).endswith(
        ") no better than guessing the mean"
    )


def test_a_line_that_is_better_than_the_mean_needs_no_note() -> None:
    # Guessing the mean of the other three misses by 4/3 of 1.5, 0.5, 0.4 and 1.6.
    assert predicted([0.4, 0.5, 0.6, 0.7], [1, 2, 2.9, 4.1]).endswith(" (guessing the mean 1.52)")


def test_a_line_through_all_models_has_no_interval() -> None:
    assert predicted([0.4, 0.5, 0.6, 0.7], [1, 2, 3, 4]).endswith(
        " (guessing the mean 1.49) no interval: all judged models are exactly on the line"
    )


def test_categories_without_a_line_share_a_row() -> None:
    none = {"extrapolation": extrapolate([0.5], [1.0], {"new": 0.6}).to_dict()}
    agreement = {"by_category": {"a": none, "b": none}, "unmatched": ["new"]}
    (table,) = extrapolation_tables(agreement)
    assert row(table, "a, b") == "n/a a line needs at least 4 judged models, not 1"
    assert extrapolation_tables({**agreement, "unmatched": []}) == []
