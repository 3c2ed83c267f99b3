"""Intervals over contexts cover the true pass rate as often as numbers.md of the guide says.

NND_TEST_FULL=1 simulates the whole grid of `support.simulations.coverage`.
"""

import math
import os
import re

import pytest
from support.places import ROOT
from support.simulations.coverage import GRID, UNEQUAL, Cell, coverage, ours, over_grid, percentiles

FULL = bool(os.environ.get("NND_TEST_FULL"))

# What is hardest: rates near an end, tests that go together, contexts large or of unequal size.
HARD = [Cell(0.9, 0.4, (20,)), Cell(0.9, 0.4, UNEQUAL), Cell(0.3, 0.2, UNEQUAL)]
CELLS, TIMES = (GRID, 2_000) if FULL else (HARD, 500)

TABLE = re.findall(
    r"^\| (\d+) \|((?: \d+ \(\d+\) \|){7})$",
    (ROOT / "cards/guide/numbers.md").read_text(),
    re.MULTILINE,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contexts", "least"),
    [(10, 0.90), (20, 0.92), *([(5, 0.90), (50, 0.93), (200, 0.93)] if FULL else [])],
)
def test_intervals_cover_the_true_rate(contexts: int, least: float) -> None:
    reach = 3 * math.sqrt(least * (1 - least) / TIMES)  # three standard errors of the simulation
    found = {cell: coverage(ours, cell, contexts, TIMES) for cell in CELLS}
    assert {cell: each for cell, each in found.items() if each < least - reach} == {}


def test_percentiles_of_a_bootstrap_fall_short_of_that() -> None:
    # Ten single tests at a rate of 0.9: all pass in 0.9^10 = 35 % of data sets, which leaves no
    # width. The interval of ours is then from 10 / (10 + 1.96^2) = 72 % up.
    cell = Cell(0.9, 0.0, (1,))
    assert coverage(percentiles, cell, 10, 1_000) < 0.7
    assert coverage(ours, cell, 10, 1_000) > 0.95


def test_the_table_of_readme_has_every_row() -> None:
    assert [int(contexts) for contexts, _ in TABLE] == [5, 10, 20, 50, 100, 200]


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="a minute; set NND_TEST_FULL=1")
@pytest.mark.parametrize(("contexts", "cells"), TABLE[:3])
def test_the_table_of_readme_is_what_the_simulation_gives(contexts: str, cells: str) -> None:
    names = ["nnd", "bootstrap percentiles", "bootstrap-t", "BCa", "t"]
    names += ["Wilson, effective tests", "Wilson, tests"]
    told = [tuple(map(int, cell)) for cell in re.findall(r"(\d+) \((\d+)\)", cells)]
    for name, (least, mean) in zip(names, told, strict=True):
        found = [100 * each for each in over_grid(name, int(contexts), 500)]
        assert found == [pytest.approx(least, abs=3.5), pytest.approx(mean, abs=1)], name
