"""Every error has a known code, every code an error, and the guide lists them all."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from nnd.schemas import NNDError
from nnd.schemas.words import errors
from nnd.schemas.words.error_codes import REMEDIES

ROOT = Path(__file__).parents[2]
ROOMS = ("converters", "nnd_metric", "schemas", "cards")


def _family() -> set[str]:
    # Of the module: the room has a name only after someone has asked for it.
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    return {each.__name__ for each in kinds if issubclass(each, NNDError)} - {"CandidateError"}


def _codes() -> Iterator[tuple[str, str]]:
    """Yield the place of each error that is made with a code spelt out, and the code."""
    family = _family() | {"error", "family"}
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
                continue
            if node.func.id in family and isinstance(first := node.args[0], ast.Constant):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", str(first.value)


CODES = [*_codes()]


def test_every_code_is_known_and_used() -> None:
    unknown = [(place, code) for place, code in CODES if code not in REMEDIES]
    assert not unknown
    everywhere = "\n".join(
        path.read_text(encoding="utf-8") for room in ROOMS for path in (ROOT / room).rglob("*.py")
    )
    assert [code for code in REMEDIES if everywhere.count(f'"{code}"') < 2] == []


def test_the_guide_lists_every_code() -> None:
    page = (ROOT / "cards/guide/errors.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{code}` | {remedy} |" for code, remedy in REMEDIES.items()]


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = NNDError("row.twice", "c1 occurs twice", "a.csv:3", "keep the first")
    assert str(error) == "a.csv:3: c1 occurs twice; keep the first"
    standard = NNDError("row.twice", "c1 occurs twice")
    assert str(standard) == f"c1 occurs twice; {REMEDIES['row.twice']}"
    assert str(NNDError("row.twice", "they say: twice.")) == f"they say: twice; {standard.remedy}"
    assert str(error.inside("set 2")) == "set 2: a.csv:3: c1 occurs twice; keep the first"
    assert error.to_dict() == {
        "code": "row.twice",
        "where": "a.csv:3",
        "what": "c1 occurs twice",
        "remedy": "keep the first",
    }


def test_a_code_that_is_not_listed_cannot_be_raised() -> None:
    with pytest.raises(KeyError):
        NNDError("row.thrice", "no such code")
