"""The quick judge of whole columns and the slow one of single rows say the same."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from nnd.schemas import SchemaName, check_frame, check_rows, load_schema, polars_schema, rows_of
from nnd.schemas.contract.bulk import suspects

ROW_SCHEMAS: tuple[SchemaName, ...] = ("annotation", "pair", "human_score")

TEXTS = st.sampled_from(
    ["", "a", "overall", "en", "de-CH", "x y", "é", "0f3a9c1e2b4d5f60", "human"]
)
NUMBERS = st.sampled_from([0.0, -1.5, 5.0, float("nan"), float("inf")])
ENTRIES = st.lists(
    st.fixed_dictionaries({"key": TEXTS | st.none(), "value": TEXTS | st.none()}), max_size=2
)


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Anything that a column of this dtype can hold, good and bad."""
    if kind == pl.String:
        return TEXTS | st.none()
    if kind == pl.Int64:
        return st.integers(-1, 2) | st.none()
    if kind == pl.Float64:
        return NUMBERS | st.none()
    if kind == pl.List(pl.Float64):
        return st.lists(NUMBERS | st.none(), max_size=2) | st.none()
    return ENTRIES | st.none()


def good_row(name: SchemaName) -> dict[str, Any]:
    row = {column: spec["examples"][0] for column, spec in load_schema(name)["properties"].items()}
    return {
        name: [{"key": key, "value": text} for key, text in value.items()]
        if isinstance(value, dict)
        else value
        for name, value in row.items()
    }


@pytest.mark.parametrize("name", ROW_SCHEMAS)
@given(data=st.data())
@settings(max_examples=150, derandomize=True)
def test_both_find_the_same_problems(name: SchemaName, data: st.DataObject) -> None:
    schema = polars_schema(name)
    rows = []
    for _ in range(data.draw(st.integers(0, 4))):
        columns = data.draw(st.lists(st.sampled_from(schema.names()), max_size=2))
        changed = {column: data.draw(values_of(schema[column])) for column in columns}
        rows.append(good_row(name) | changed)
    frame = pl.DataFrame(rows, schema, orient="row")
    assert list(check_frame(name, frame)) == list(check_rows(name, rows_of(frame)))


@pytest.mark.parametrize("name", ROW_SCHEMAS)
def test_good_rows_are_not_even_doubted(name: SchemaName) -> None:
    frame = pl.DataFrame([good_row(name)] * 3, polars_schema(name), orient="row")
    assert suspects(name, frame).to_list() == []


def test_a_doubted_row_keeps_its_number() -> None:
    bad = good_row("human_score") | {"n": 0}
    frame = pl.DataFrame(
        [good_row("human_score"), good_row("human_score"), bad],
        polars_schema("human_score"),
        orient="row",
    )
    assert suspects("human_score", frame).to_list() == [2]
    assert [problem.row for problem in check_frame("human_score", frame)] == [2]


def test_a_keyword_it_does_not_know_is_no_licence(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"properties": {"n": {"type": "integer", "multipleOf": 2}}}
    monkeypatch.setattr("nnd.schemas.contract.bulk.load_schema", lambda _: schema)
    with pytest.raises(NotImplementedError, match="multipleOf"):
        suspects("human_score", pl.DataFrame({"n": [1]}))
