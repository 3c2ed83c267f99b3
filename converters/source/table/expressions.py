"""Computed columns and filters: SQL expressions over the cells of one row (`contract.sql`)."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import polars as pl

from nnd.converters.source.table.row_cells import Report, Row
from nnd.schemas import SourceError, SqlExpression, first_line, parse_sql, shown

_ROWS_AT_A_TIME = 4096


def parse_expression(place: str, text: str) -> SqlExpression:
    """Parse an SQL expression at a place in source.yaml; one that reads other rows is an error."""
    expression = parse_sql(text, f"{place}: {shown(text)}", SourceError)
    written = str(expression.parsed)
    if ".over(" in written or (not expression.columns and "len()" in written):
        raise _not_by_row(expression)
    return expression


def compute(rows: Iterable[Row], name: str, expression: SqlExpression) -> Iterator[Row]:
    """Yield rows with a computed column, which may replace an existing one."""
    for batch in _batches(rows):
        values = _as_cells(expression, _evaluate(expression, batch))
        for row, value in zip(batch, values, strict=True):
            yield row._replace(fields={**row.fields, name: value})


def keep_where(
    rows: Iterable[Row], expression: SqlExpression, file: str, report: Report
) -> Iterator[Row]:
    """Yield the rows for which an expression is true, and report the number of others."""
    others = 0
    for batch in _batches(rows):
        values = _evaluate(expression, batch)
        if values.dtype != pl.Boolean:
            raise SourceError(
                "expression.invalid",
                f"gives {values.dtype}, and not true or false",
                expression.where,
                "compare it with something",
            )
        others += len(batch) - int(values.sum())
        yield from (row for row, value in zip(batch, values, strict=True) if value)
    if others:
        report(file, f"rows left out by `where`: {others}")


def _evaluate(expression: SqlExpression, rows: tuple[Row, ...]) -> pl.Series:
    """Return the value of an expression for each row."""
    try:
        values = expression.evaluate(_cells(rows, name) for name in expression.columns)
    except (pl.exceptions.PolarsError, UnicodeEncodeError) as error:  # half a surrogate pair
        if len(rows) > 1:
            for row in rows:  # to name the first row for which it fails by itself
                _evaluate(expression, (row,))
        where = f"{rows[0].where}: " if len(rows) == 1 else ""
        raise SourceError(
            "expression.invalid",
            f"cannot be computed: {first_line(error)}",
            f"{where}{expression.where}",
            "correct the cell or the expression",
        ) from error
    if expression.columns and len(values) != len(rows):
        raise _not_by_row(expression)
    return values if expression.columns else values.new_from_index(0, len(rows))


def _batches(rows: Iterable[Row]) -> Iterator[tuple[Row, ...]]:
    remaining = iter(rows)
    while batch := tuple(islice(remaining, _ROWS_AT_A_TIME)):
        yield batch


def _cells(rows: tuple[Row, ...], column: str) -> pl.Series:
    """Return a column of some rows as texts, or as lists of texts if a cell holds a list."""
    if any(isinstance(row.fields[column], list) for row in rows):
        lists = [row.texts(column) for row in rows]
        return pl.Series(column, lists, pl.List(pl.String))
    return pl.Series(column, [row.text(column) for row in rows], pl.String)


def _as_cells(expression: SqlExpression, values: pl.Series) -> list[Any]:
    kind = pl.List(pl.String) if isinstance(values.dtype, pl.List) else pl.String
    try:
        return values.cast(kind).to_list()
    except pl.exceptions.PolarsError as error:
        raise SourceError(
            "expression.invalid",
            f"gives {values.dtype}, which is neither text nor a number",
            expression.where,
            "cast it",
        ) from error


def _not_by_row(expression: SqlExpression) -> SourceError:
    return SourceError(
        "expression.invalid",
        "looks at several rows, which are read one after another",
        expression.where,
        "write an expression over the cells of one row",
    )
