"""Compares the rows of a folder with those that follow from its annotations, column by column."""

from collections.abc import Iterator, Sequence

import polars as pl

from nnd.schemas import Problem, shown

PAIR_KEY = ("split", "context_id", "aspect", "error_category", "high_id", "low_id")
SCORE_KEY = ("aspect", "system", "category")

_REMEDY = "convert the source again"
_ROUNDING = 1e-9


def differences(
    stored: pl.DataFrame, derived: pl.DataFrame, key: Sequence[str], what: str
) -> Iterator[Problem]:
    """Yield a problem for every surplus row, every differing value, and every missing row.

    Numbers may differ by rounding, because another machine may have added them in another order.
    The order of rows does not matter.
    """
    if stored.equals(derived):
        return
    numbered = stored.select(key).with_row_index("row")
    for (row,) in numbered.filter(~pl.struct(key).is_first_distinct()).select("row").rows():
        yield Problem(row, "", "repeats an earlier row", "keep one of them")
    expected = derived.select(key).with_row_index("expected")
    matched = numbered.join(expected, on=key, how="full", coalesce=True, nulls_equal=True)
    matched = matched.sort("row", "expected", nulls_last=True)
    for row in matched.filter(pl.col("expected").is_null())["row"]:
        yield Problem(row, "", f"this {what} does not follow from the annotations", _REMEDY)
    both = matched.drop_nulls(("row", "expected"))
    for column in (name for name in stored.columns if name not in key):
        here, there = stored[column][both["row"]], derived[column][both["expected"]]
        for place in _differing(here, there):
            message = f"{shown(_python_value(here[place]))}, but the annotations give "
            message += shown(_python_value(there[place]))
            yield Problem(both["row"][place], column, message, _REMEDY)
    for missing in matched.filter(pl.col("row").is_null()).select(key).iter_rows(named=True):
        named = ", ".join(f"{name} {shown(value)}" for name, value in missing.items())
        yield Problem(
            None, "", f"the {what} of {named} is missing, although the annotations give it", _REMEDY
        )


def _differing(here: pl.Series, there: pl.Series) -> pl.Series:
    """Return the indices of the rows in which two columns of one dtype differ."""
    a, b = pl.col("a"), pl.col("b")
    differs = a.ne_missing(b)
    if here.dtype.is_float():
        close = (a - b).abs() <= _ROUNDING * pl.max_horizontal(1.0, b.abs())
        differs &= ~close.fill_null(value=False)
    table = pl.DataFrame([here.alias("a"), there.alias("b")])
    return table.select(pl.arg_where(differs)).to_series()


def _python_value(value: object) -> object:
    """Return a value as plain Python; polars returns the parts of a context as a series."""
    return value.to_list() if isinstance(value, pl.Series) else value
