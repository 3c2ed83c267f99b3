"""Large runs: what their statistics hold and what a report of them embeds."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import run_scale

from nnd.metric.data import SLICES, read_pieces, read_run
from nnd.metric.numbers import cluster_intervals, compare, distinct_tests
from nnd.metric.numbers.rates.context_sums import count_by_context, slices_by
from nnd.metric.numbers.rates.pass_rates import SLICE_NUMBERS, all_rates, pass_rates, to_rate
from nnd.metric.show import report
from nnd.metric.show.reports.content.packed_pairs import MOST_PAIRS

ROWS = 100_000


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for model in run_scale.RUNS:
        run_scale.make_run(folder / model, model, ROWS)
    return folder


@pytest.fixture(scope="module")
def scored(runs: Path) -> pl.DataFrame:
    return read_run(runs / run_scale.RUNS[0])


def test_rates_are_made_of_a_tenth_of_the_run(scored: pl.DataFrame) -> None:
    # Of each pair nine numbers, six verdicts of baselines in a byte each, and nine bits.
    assert to_rate([scored]).estimated_size() <= 45 * ROWS


def test_rates_are_those_of_context_sums_over_all_slices(scored: pl.DataFrame) -> None:
    # One matrix of all contexts and slices, from the ids themselves.
    slices = [distinct_tests(scored)]
    slices += [rows for column in SLICES for rows in slices_by(scored, column).values()]
    passes, tests = count_by_context(scored, slices)
    expected = cluster_intervals(passes, passes, tests)
    found = pass_rates(scored)
    rates = [found.overall, *(rate for by in found.by.values() for rate in by.values())]
    assert [(rate.interval, rate.contexts) for rate in rates] == [
        (each.bounds, each.contexts) for each in expected
    ]


def test_rates_of_pieces_are_those_of_the_whole_run(runs: Path, scored: pl.DataFrame) -> None:
    folder = runs / run_scale.RUNS[0]
    pieces = [scored.head(7), scored.slice(7, 50_000), scored.slice(50_007)]
    expected = pass_rates(scored)
    assert all_rates(to_rate(pieces, *SLICE_NUMBERS)) == expected
    assert all_rates(to_rate(read_pieces(folder), *SLICE_NUMBERS)) == expected


def test_two_models_are_compared_over_all_their_pairs(runs: Path) -> None:
    (found,) = compare([runs / name for name in run_scale.RUNS])
    assert (found.n_pairs, found.only_in_first, found.overall.n) == (ROWS, 0, ROWS // 2)


def test_a_report_holds_some_pairs_of_a_large_run(runs: Path, tmp_path: Path) -> None:
    found = report(runs / run_scale.RUNS[0], tmp_path / "report.html")
    page = found.page.read_text(encoding="utf-8")
    assert f"The page holds {MOST_PAIRS:,} of the {ROWS:,} pairs, drawn at random" in page
    assert found.size < 3_000_000


@pytest.mark.full
def test_ten_million_pairs_take_no_two_minutes_and_no_4_gib(tmp_path: Path) -> None:
    run_scale.make_run(tmp_path / run_scale.RUNS[0], run_scale.RUNS[0], 10_000_000)
    command = [sys.executable, run_scale.__file__, "--here", str(tmp_path), "rates"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    seconds, gib = map(float, done.stdout.split()[1:3])
    assert seconds <= 120
    assert gib <= 4
