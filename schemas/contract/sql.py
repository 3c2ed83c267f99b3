"""SQL expressions (of polars) over the columns of one row: filters, computed cells, slices.

Equal rows must always give equal values, so an expression reads no file and no clock. And polars
must survive the expressions of strangers: it ends the process on texts too long for its memory, and
on thousands of nested operators.

A column of text is text, so `id = '007'` finds 007 and not 7. But where an expression compares it
with a number (`score >= 5`, `BETWEEN 1 AND 5`, `IN (1, 2)`), it is read as numbers in this
expression: a blank cell as unknown, any other text as an error.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from nnd.schemas.contract.sql_functions import find_excluded, growth_of
from nnd.schemas.words.errors import NNDError

_READS_FILES = re.compile(r"(read|scan)_\w+", re.IGNORECASE)
"""Matches functions such as `read_csv`, which polars would call while parsing; inside texts too, so
that quoting cannot hide them."""

_READS_CLOCK = re.compile(
    r"\b(now(?=\s*\()|current_(?:date|time|timestamp)\b|localtime(?:stamp)?\b)", re.IGNORECASE
)
"""Matches what polars would replace by the present time, inside texts too."""

_SUBQUERY = "_POLARS_TMP_SQL"
"""Prefix of the names of columns that polars makes from subqueries."""

LONGEST = 4096
MOST_OPERATORS = 300
MOST_MADE = 2**26
"""Bytes of text that an expression may make at once."""

_OPERATOR = re.compile(
    r"[-+*/%^|&~<>=!:]|\b(?:and|or|not|is|in|like|between|case|when)\b", re.IGNORECASE
)
_ALLOWED = "compare and compute with the cells of one row: the guide lists the functions"
_QUOTED = re.compile(r"'[^']*'")

_NUMBER = r"[-+]?\s*(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.]|\s*\|\|)"
_NAME = r'(?:"([^"]+)"|\b([^\W\d]\w*))'
_SIGN = r"\s*(?:[<>]=?|<>|!=|==?)\s*"
_COMPARED = re.compile(
    rf"{_NAME}(?:{_SIGN}{_NUMBER}|\s+(?:not\s+)?between\s+{_NUMBER}"
    rf"|\s+(?:not\s+)?in\s*\(\s*{_NUMBER}(?:\s*,\s*{_NUMBER})*\s*\))"
    rf"|(?<![\w.]){_NUMBER}{_SIGN}{_NAME}(?!\s*(?:[(.]|::|\|\|))",
    re.IGNORECASE,
)
"""Matches a column (in one of its groups) that is compared with a number."""


@dataclass(frozen=True, slots=True)
class SqlExpression:
    """An SQL expression as polars parses it; `where` is its place and its text, for messages."""

    text: str
    where: str
    parsed: pl.Expr
    growth: float
    """How many times as long as the cells that it reads its texts can be."""

    @property
    def columns(self) -> list[str]:
        """The columns it reads."""
        return list(dict.fromkeys(self.parsed.meta.root_names()))

    def evaluate(self, columns: Iterable[pl.Series]) -> pl.Series:
        """Return its values from the columns that it reads.

        Raises:
            PolarsError: If it cannot be computed.
        """
        groups = _COMPARED.findall(_QUOTED.sub("''", self.text))
        compared = {name for names in groups for name in names}
        frame = pl.DataFrame(
            column.str.strip_chars().replace("", None).cast(pl.Float64).fill_nan(None)
            if column.name in compared and column.dtype == pl.String
            else column
            for column in columns
        )
        if self.growth > 1 and frame.estimated_size() * self.growth > MOST_MADE:
            raise pl.exceptions.ComputeError(
                f"could make texts of more than {MOST_MADE:,} bytes of {frame.estimated_size():,}"
            )
        return frame.select(self.parsed.alias("value"))["value"]


def parse_sql(
    text: str, where: str, error: type[NNDError], *, own_row: bool = True
) -> SqlExpression:
    """Parse an SQL expression, which reads its `own_row` only, or aggregates over all rows as well.

    Raises `error` if it is not one, is too large, or would read a file or the clock.
    """
    if excess := _excess(text):
        raise error("expression.invalid", excess, where, "write a shorter or simpler one")
    if function := _READS_FILES.search(text):
        raise error(
            "expression.invalid",
            f"names {function[0]}, but an expression reads its own row only",
            where,
            "use `join` in source.yaml for another file",
        )
    if clock := _READS_CLOCK.search(text):
        raise error(
            "expression.invalid",
            f"names {clock[0]}, which is another value every time",
            where,
            "write the date or time itself, so that equal rows always give equal values",
        )
    excluded, growth = find_excluded(text, own_row=own_row), growth_of(text)
    if excluded or isinstance(growth, str):
        raise error("expression.invalid", str(excluded or growth), where, _ALLOWED)
    try:
        expression = SqlExpression(text, where, pl.sql_expr(text), growth)
        columns = expression.columns
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise error(
            "expression.invalid",
            f"is not an SQL expression: {first_line(problem)}",
            where,
            "write one over the columns of a row, such as label = '1'",
        ) from problem
    if any(name.startswith(_SUBQUERY) for name in columns):
        raise error(
            "expression.invalid",
            "is a query",
            where,
            "write an expression over the columns of a row",
        )
    return expression


def first_line(error: Exception) -> str:
    """Return the first line of an error, which of those of polars says what is wrong."""
    return str(error).partition("\n")[0]


def _excess(expression: str) -> str | None:
    """Return what makes an SQL expression more than polars may be given, or None."""
    if len(expression) > LONGEST:
        return f"has {len(expression):,} characters, more than {LONGEST:,}"
    if (operators := len(_OPERATOR.findall(expression))) > MOST_OPERATORS:
        return f"has {operators:,} operators, more than {MOST_OPERATORS}"
    return None
