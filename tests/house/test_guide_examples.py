"""The example of each dataset in the guide is a pair that the source's fixture makes."""

import re

import pytest
from support.places import ROOT
from support.recounts.built_in_sources import Case, fixture_cases

from nnd.converters.folder.conversion import convert

CASES = {case.source: case for case in reversed([*fixture_cases()])}
"""The first fixture of each source."""

_EXAMPLE = re.compile(
    r"^\| \[(?P<source>\w+)\]\(\S+\) \| [^|]+ \| (?P<better>[^|]+) \| (?P<worse>[^|]+) \| "
    r"(?P<error>[^|]+) \|$",
    re.MULTILINE,
)
PAGE = (ROOT / "cards/guide/datasets.md").read_text(encoding="utf-8")
EXAMPLES = {found["source"]: found for found in _EXAMPLE.finditer(PAGE)}


def folded(text: str) -> str:
    return " ".join(text.split())


def test_every_source_has_an_example() -> None:
    assert EXAMPLES.keys() == CASES.keys()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.source)
def test_an_example_is_a_pair_of_the_fixture(case: Case) -> None:
    example = EXAMPLES[case.source].group("better", "worse", "error")
    pairs = convert(
        case.source, origin=case.place, set_name=case.set_name, variant=case.variant
    ).pairs
    columns = ("candidate_high", "candidate_low", "error_category")

    assert example in {tuple(map(folded, row)) for row in pairs.select(columns).iter_rows()}
