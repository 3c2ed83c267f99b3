"""Short texts."""

import pytest

from nnd.schemas import counted


@pytest.mark.parametrize(
    ("n", "text"), [(0, "no pairs"), (1, "1 pair"), (2, "2 pairs"), (1_234, "1,234 pairs")]
)
def test_counted(n: int, text: str) -> None:
    assert counted(n, "pair") == text
