"""What SQL expressions over rows must not use.

Equal rows must always give equal results, and polars must survive the expressions of strangers: it
ends the process on texts too long for its memory, and on thousands of nested operators.
"""

import re

READS_FILES = re.compile(r"(read|scan)_\w+", re.IGNORECASE)
"""Matches functions such as `read_csv`, which polars would call while parsing; inside texts too, so
that quoting cannot hide them."""

READS_CLOCK = re.compile(
    r"\b(now(?=\s*\()|current_(?:date|time|timestamp)\b|localtime(?:stamp)?\b)", re.IGNORECASE
)
"""Matches what polars would replace by the present time, inside texts too."""

SUBQUERY = "_POLARS_TMP_SQL"
"""Prefix of the names of columns that polars makes from subqueries."""

_LONGEST = 4096
_MOST_OPERATORS = 300
_MOST_GROWTH = 10_000
_OPERATOR = re.compile(
    r"[-+*/%^|&~<>=!:]|\b(?:and|or|not|is|in|like|between|case|when)\b", re.IGNORECASE
)
_GROWS = re.compile(r"\b([lr]pad|generate_series)\b", re.IGNORECASE)
_REPLACES = re.compile(r"\b(?:regexp_)?replace\b", re.IGNORECASE)
_QUOTED = re.compile(r"'[^']*'")


def sql_excess(expression: str) -> str | None:
    """Return what makes an SQL expression more than polars may be given, or None."""
    if len(expression) > _LONGEST:
        return f"has {len(expression):,} characters, more than {_LONGEST:,}"
    if (operators := len(_OPERATOR.findall(expression))) > _MOST_OPERATORS:
        return f"has {operators:,} operators, more than {_MOST_OPERATORS}"
    if grows := _GROWS.search(expression):
        return f"uses {grows[0]}, which makes values of any length"
    longest = max((len(text) - 2 for text in _QUOTED.findall(expression)), default=1)
    if longest ** len(_REPLACES.findall(expression)) > _MOST_GROWTH:
        return f"could make texts more than {_MOST_GROWTH:,} times as long by replacing"
    return None
