"""The JSON Schemas of records are those that follow from them."""

from pathlib import Path

import pytest
from support.records import RECORDS, schema_text

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", RECORDS)
def test_a_schema_is_current(name: str) -> None:
    stored = (ROOT / "schemas/contract" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert stored == schema_text(name), "run `make schemas`"
