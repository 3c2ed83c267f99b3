"""The interval of every statistic contains the true value as often as numbers.md says.

NND_TEST_FULL=1 simulates all cells; otherwise there are a few data sets of the hardest.
"""

import math
import os
import re

import pytest
from support.places import ROOT
from support.simulations.simulated_statistics import DEPENDENCE, DRAWS, Coverage, simulate

FULL = bool(os.environ.get("NND_TEST_FULL"))

TIMES = 200 if FULL else 40
SIZES = (12, 20, 50, 100, 200, 400) if FULL else (20,)
SYSTEMS = (5, 7, 12, 20, 50) if FULL else (7,)
LEVELS = DEPENDENCE if FULL else {"medium": DEPENDENCE["medium"]}
CELLS = [
    (name, n, level)
    for name in DRAWS
    for n in (SYSTEMS if name == "over systems" else SIZES)
    for level in LEVELS
]
LARGE = 100
"""From here on, statistics of candidates take long: there are fewer data sets."""

OVER_FIXED_SYSTEMS = 0.85
"""Least coverage of what the page names as below 93 %."""

FEW = 30
"""With fewer intervals, their share with the truth says nothing."""


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "n", "level"), CELLS)
def test_intervals_contain_the_truth_and_their_value(draw: str, n: int, level: str) -> None:
    times = 60 if FULL and draw == "candidates" and n > LARGE else TIMES
    found = simulate(DRAWS[draw], n, DEPENDENCE[level], times)
    assert {
        name: each for name, each in found.items() if each.given and each.contains_value < 1
    } == {}
    assert {name: each for name, each in found.items() if not _is_enough(draw, each, times)} == {}


def _is_enough(draw: str, found: Coverage, times: int) -> bool:
    given = round(found.given * times)
    if given < FEW:
        return draw in ("agreement", "systems")  # which refuse an interval where noise is large
    least = OVER_FIXED_SYSTEMS if draw in ("agreement", "systems") else 0.93
    return found.covered >= least - 3 * math.sqrt(least * (1 - least) / given)


def test_the_page_has_a_row_for_every_statistic() -> None:
    page = (ROOT / "cards/guide/numbers.md").read_text()
    rows = set(re.findall(r"^\| ([^|]+?) \|(?: [^|\n]+ \|){4}$", page, re.MULTILINE))
    found = {name for draw, simulated in DRAWS.items() for name in simulate(simulated, 12, 0.3, 1)}
    assert found <= rows
