"""Computed columns and filters: SQL expressions over the cells of one row (`contract.sql`)."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import polars as pl

from nnd.converters.source.table.row_cells import Report, Row
from nnd.schemas import MOST_MADE, SourceError, SqlExpression, first_line, parse_sql, shown

_ROWS_AT_A_TIME = 4096
_BESIDE = 64
"""Characters that a cell counts for beside its own."""

MOST_GROWN = 2**28
"""Characters that a computed column may add to those of the cells that it is made of."""


def parse_expression(place: str, text: str) -> SqlExpression:
    """Parse an SQL expression at a place in source.yaml; one that reads other rows is an error."""
    return parse_sql(text, f"{place}: {shown(text)}", SourceError)


def compute(rows: Iterable[Row], name: str, expression: SqlExpression) -> Iterator[Row]:
    """Yield rows with a computed column, which may replace an existing one."""
    made = 0
    for batch in _batches(rows, expression):
        values = _as_cells(expression, _evaluate(expression, batch))
        if expression.growth > 1:
            made += sum(map(_length, values)) - sum(_read(row, expression) for row in batch)
            if made > MOST_GROWN:
                raise SourceError(
                    "expression.invalid",
                    f"makes texts that are {made:,} characters longer than the cells, more than "
                    f"{MOST_GROWN:,}",
                    f"{batch[-1].where}: {expression.where}",
                    "let the convert.py of the source make such texts",
                )
        for row, value in zip(batch, values, strict=True):
            yield row._replace(fields={**row.fields, name: value})


def keep_where(
    rows: Iterable[Row], expression: SqlExpression, file: str, report: Report
) -> Iterator[Row]:
    """Yield the rows for which an expression is true, and report the number of others."""
    others = 0
    for batch in _batches(rows, expression):
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


def _batches(rows: Iterable[Row], expression: SqlExpression) -> Iterator[tuple[Row, ...]]:
    """Yield rows that are computed at once: fewer where an expression can make long texts."""
    remaining, growth = iter(rows), expression.growth
    if growth <= 1:
        while batch := tuple(islice(remaining, _ROWS_AT_A_TIME)):
            yield batch
        return
    some, size = list[Row](), 0
    for row in remaining:
        own = _read(row, expression) + _BESIDE
        if some and (len(some) == _ROWS_AT_A_TIME or (size + own) * 4 * growth > MOST_MADE):
            yield tuple(some)
            some, size = [], 0
        some.append(row)
        size += own
    if some:
        yield tuple(some)


def _read(row: Row, expression: SqlExpression) -> int:
    """Return the characters of the cells that an expression reads."""
    return sum(_length(row.fields[name]) for name in expression.columns)


def _length(cell: object) -> int:
    if isinstance(cell, list):
        return sum(map(_length, cell))
    return len(cell) if isinstance(cell, str) else 0 if cell is None else len(str(cell))


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
