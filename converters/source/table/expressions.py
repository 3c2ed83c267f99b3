"""Computed columns and filters: SQL expressions over the cells of one row.

In expressions too, cells are texts or lists of texts: `CAST(score AS DOUBLE) > 3`. An expression
reads only its own row: no other row, no file, and no clock.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import polars as pl

from nnd.converters.reading import shown
from nnd.converters.source.table.row_cells import Report, Row
from nnd.schemas import READS_CLOCK, READS_FILES, SUBQUERY, SourceError, sql_excess

_ROWS_AT_A_TIME = 4096


@dataclass(frozen=True, slots=True)
class Expression:
    """An SQL expression of a source.yaml.

    Attributes:
        place: Its place in source.yaml, for messages.
        text: Its text.
        parsed: The expression as polars parses it.
    """

    place: str
    text: str
    parsed: pl.Expr

    @property
    def columns(self) -> list[str]:
        """The columns it reads."""
        return list(dict.fromkeys(self.parsed.meta.root_names()))

    def evaluate(self, rows: tuple[Row, ...]) -> pl.Series:
        """Return its value for each row.

        Raises:
            SourceError: If it cannot be computed for a row, or reads several rows at once.
        """
        try:
            values = self._select(rows)
        except pl.exceptions.PolarsError as error:
            raise self._explain(rows, error) from error
        if self.columns and len(values) != len(rows):
            raise SourceError(_not_by_row(self.place, self.text))
        return values if self.columns else values.new_from_index(0, len(rows))

    def _select(self, rows: tuple[Row, ...]) -> pl.Series:
        return pl.DataFrame([_cells(rows, name) for name in self.columns]).select(
            self.parsed.alias("value")
        )["value"]

    def _explain(self, rows: tuple[Row, ...], error: Exception) -> SourceError:
        """Return the error of the first row for which the expression fails by itself."""
        where = ""
        for row in rows:
            try:
                self._select((row,))
            except pl.exceptions.PolarsError as of_row:
                where, error = f"{row.where}: ", of_row
                break
        reason = str(error).partition("\n")[0]
        return SourceError(
            f"{where}{self.place}: {shown(self.text)} cannot be computed: {reason}; correct the "
            "cell or the expression"
        )


def parse_expression(place: str, text: str) -> Expression:
    """Parse an SQL expression.

    Args:
        place: Its place in source.yaml, for messages.
        text: Its text.

    Raises:
        SourceError: If it is not an SQL expression, is too large, or would read a file, the clock
            or other rows.
    """
    if excess := sql_excess(text):
        raise SourceError(f"{place}: {shown(text)} {excess}; write a shorter or simpler one")
    _check_reads(place, text)
    try:
        parsed = pl.sql_expr(text)
        columns = parsed.meta.root_names()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise SourceError(
            f"{place}: {shown(text)} is not an SQL expression: {reason}; write one over the "
            "columns of a row, such as label = '1'"
        ) from error
    written = str(parsed)
    is_subquery = any(name.startswith(SUBQUERY) for name in columns)
    if is_subquery or ".over(" in written or (not columns and "len()" in written):
        raise SourceError(_not_by_row(place, text))
    return Expression(place, text, parsed)


def _check_reads(place: str, text: str) -> None:
    """Refuse an expression that would read a file or the clock."""
    if function := READS_FILES.search(text):
        raise SourceError(
            f"{place}: {shown(text)} names {function[0]}; an expression reads the cells of its row "
            "only, so use `join` for another file"
        )
    if clock := READS_CLOCK.search(text):
        raise SourceError(
            f"{place}: {shown(text)} names {clock[0]}, which is another value every time; write "
            "the date or time itself, so that the same file always gives the same pairs"
        )


def compute(rows: Iterable[Row], name: str, expression: Expression) -> Iterator[Row]:
    """Yield rows with a computed column, which may replace an existing one."""
    for batch in _batches(rows):
        values = _as_cells(expression, expression.evaluate(batch))
        for row, value in zip(batch, values, strict=True):
            yield row._replace(fields={**row.fields, name: value})


def keep_where(
    rows: Iterable[Row], expression: Expression, file: str, report: Report
) -> Iterator[Row]:
    """Yield the rows for which an expression is true, and report the number of others.

    Raises:
        SourceError: If its value is neither true nor false.
    """
    others = 0
    for batch in _batches(rows):
        values = expression.evaluate(batch)
        if values.dtype != pl.Boolean:
            raise SourceError(
                f"{expression.place}: {shown(expression.text)} gives {values.dtype}, and not "
                "true or false; compare it with something"
            )
        others += len(batch) - int(values.sum())
        yield from (row for row, value in zip(batch, values, strict=True) if value)
    if others:
        report(file, f"rows left out by `where`: {others}")


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


def _as_cells(expression: Expression, values: pl.Series) -> list[Any]:
    """Return values as cells: texts, or lists of texts."""
    kind = pl.List(pl.String) if isinstance(values.dtype, pl.List) else pl.String
    try:
        return values.cast(kind).to_list()
    except pl.exceptions.PolarsError as error:
        raise SourceError(
            f"{expression.place}: {shown(expression.text)} gives {values.dtype}, which is neither "
            "text nor a number; cast it"
        ) from error


def _not_by_row(place: str, text: str) -> str:
    return (
        f"{place}: {shown(text)} looks at several rows, which are read one after another; write an "
        "expression over the cells of one row"
    )
