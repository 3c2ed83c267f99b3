"""Short texts."""

import pytest

from nnd.schemas import counted, excerpt


@pytest.mark.parametrize(
    ("n", "text"), [(0, "no pairs"), (1, "1 pair"), (2, "2 pairs"), (1_234, "1,234 pairs")]
)
def test_counted(n: int, text: str) -> None:
    assert counted(n, "pair") == text


def test_dots_stand_for_the_rest_of_a_long_text() -> None:
    assert excerpt("a" * 60) == "a" * 60
    assert excerpt("a" * 61) == "a" * 60 + "…"
    assert excerpt("abc", 2) == "ab…"
