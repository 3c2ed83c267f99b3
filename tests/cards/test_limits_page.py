"""The pages about limits and about expressions say what the code does."""

import re
from pathlib import Path

import pytest

from nnd.converters.source.table import expressions
from nnd.schemas.contract import sql
from nnd.schemas.contract.sql_functions import OF_ALL_ROWS, OF_ONE_ROW
from nnd.schemas.reading.limits import LIMITS, SizeLimit

GUIDE = Path(__file__).parents[2] / "cards" / "guide"
LIMITS_PAGE = (GUIDE / "limits.md").read_text(encoding="utf-8")
EXPRESSIONS = (
    (GUIDE / "tables.md").read_text(encoding="utf-8").partition("an expression may use")[2]
)


def rows(text: str) -> dict[str, tuple[str, str]]:
    """Return the second and third cell of each row of tables, by the first."""
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {first: (second, "".join(rest)) for first, second, *rest in cells}


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.variable)
def test_each_limit_has_a_row_with_its_value(limit: SizeLimit) -> None:
    [shown] = [value for value, how in rows(LIMITS_PAGE).values() if how == f"`{limit.variable}`"]
    sizes = {f"{limit.usual:,}", f"{limit.usual / 2**20:g} M"}
    assert shown in ({"a quarter of the memory"} if not limit.usual else sizes)


def test_the_limits_of_expressions_are_those_of_the_page() -> None:
    found = {name: value for name, (value, _) in rows(LIMITS_PAGE).items()}
    assert found["characters of an SQL expression"] == f"{sql.LONGEST:,}"
    assert found["operators of an SQL expression"] == f"{sql.MOST_OPERATORS:,}"
    made = found["bytes of text that an SQL expression makes at once"]
    assert made == f"{sql.MOST_MADE / 2**20:g} M"
    grown = found["characters that a computed column adds to the cells that it is made of"]
    assert grown == f"{expressions.MOST_GROWN / 2**20:g} M"


def test_every_function_of_expressions_is_listed_and_no_other() -> None:
    listed = {row: re.findall("`(.+?)`", text) for row, (text, _) in rows(EXPRESSIONS).items()}
    of_all_rows = listed.pop("all rows, in `--where` only")
    of_one_row = [name for names in listed.values() for name in names]
    assert sorted(of_all_rows) == sorted(OF_ALL_ROWS)
    assert sorted(of_one_row) == sorted(OF_ONE_ROW)
