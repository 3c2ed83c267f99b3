"""The interval of every statistic contains the true value as often as numbers.md says.

NND_TEST_FULL=1 simulates the whole table, `support.simulations.coverage_table`; otherwise there are
a few data sets of one column.
"""

import math
import os
import re

import pytest
from support.places import ROOT
from support.simulations.coverage_table import (
    FEW,
    PLANS,
    PRINTED,
    Coverage,
    row,
    simulate,
    simulate_plan,
)
from support.simulations.samples import DEPENDENCE
from support.simulations.stored_intervals import stored_intervals

FULL = bool(os.environ.get("NND_TEST_FULL"))

LEAST, FROM = 0.93, 20
"""Smallest coverage that is right, from so many contexts on."""

LEAST_OF_FEW = 0.90
LOWER = {
    "of systems": 0.85,
    "at equal length": 0.85,
    "accuracy": 0.85,
}
"""Plan → least coverage of what the page names as lower; it may also refuse most intervals."""

AS_IF_INDEPENDENT = "pass rate, Wilson's"

PAGE = (ROOT / "cards/guide/numbers.md").read_text()
ROWS = dict(re.findall(r"^\| ([a-z][^|]+?) \|((?: [–\d]+ \|){5,6})$", PAGE, re.MULTILINE))  # noqa: RUF001


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS)
def test_intervals_contain_the_truth_and_their_value(plan: str) -> None:
    found = simulate_plan(plan) if FULL else _of_one_column(plan)
    cells = [
        (statistic, n, each)
        for statistic, by_size in found.items()
        for n, column in by_size.items()
        for each in column
    ]
    assert [cell for cell in cells if cell[2].given and cell[2].contains_value < 1] == []
    assert [cell for cell in cells if not _is_enough(plan, *cell)] == []
    if FULL:
        # Other libraries may draw or round otherwise: a share of 100 data sets has an error of 2.
        given = {statistic: _ends(row(statistic, by_size)) for statistic, by_size in found.items()}
        told = {statistic: _ends(f"| {statistic} |{ROWS[statistic]}") for statistic in found}
        assert given == {name: pytest.approx(ends, abs=5) for name, ends in told.items()}


def _of_one_column(plan: str) -> dict[str, dict[int, list[Coverage]]]:
    draw, times = PLANS[plan]
    n = [*times][1]
    found = simulate(draw, n, DEPENDENCE["medium"], min(40, times[n]))
    return {statistic: {n: [each]} for statistic, each in found.items()}


def _is_enough(plan: str, statistic: str, n: int, found: Coverage) -> bool:
    if statistic == AS_IF_INDEPENDENT:
        return True
    if found.given < FEW:
        return plan in LOWER
    least = LOWER.get(plan, LEAST if n >= FROM or plan == "over systems" else LEAST_OF_FEW)
    return found.covered >= least - 3 * math.sqrt(least * (1 - least) / found.given)


def _ends(line: str) -> list[int]:
    """Return the least and the highest share in each cell of a row; 0 where there is none."""
    cells = ([int(end) for end in re.findall(r"\d+", cell)] for cell in line.split("|")[2:-1])
    return [end for cell in cells for end in (min(cell, default=0), max(cell, default=0))]


def test_every_field_with_an_interval_is_simulated() -> None:
    assert stored_intervals() == {*PRINTED}
    simulated = {name for draw, _ in PLANS.values() for name in simulate(draw, 12, 0.3, 1)}
    assert simulated == {statistic for names in PRINTED.values() for statistic in names}


def test_the_page_has_a_row_for_every_statistic() -> None:
    assert {*ROWS} >= {statistic for names in PRINTED.values() for statistic in names}
