"""The worked values of the guide are what the functions return."""

import doctest
import io
import re

import pytest
from support.places import ROOT
from support.screens.doc_blocks import GUIDE, blocks

from nnd.metric.numbers import pairs_needed

SESSIONS = {
    page: text
    for page in GUIDE
    if (text := "\n".join(block.text for block in blocks(page) if block.language == "pycon"))
}


def test_numbers_has_a_session() -> None:
    assert "cards/guide/numbers.md" in SESSIONS


@pytest.mark.parametrize("page", SESSIONS)
def test_worked_values_are_what_the_functions_return(page: str) -> None:
    session = doctest.DocTestParser().get_doctest(SESSIONS[page], {}, page, page, 0)
    said = io.StringIO()
    result = doctest.DocTestRunner().run(session, out=said.write)

    assert result.attempted > 0
    assert result.failed == 0, said.getvalue()


def test_the_table_of_tests_needed_is_what_the_formula_gives() -> None:
    text = (ROOT / "cards/guide/comparing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) % \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", text, re.MULTILINE)

    assert len(rows) == 3
    for discordance, *needed in rows:
        found = [pairs_needed(int(discordance) / 100, points) for points in (0.02, 0.05, 0.1)]
        assert [f"{each:,}" for each in found] == needed
