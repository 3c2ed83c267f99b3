"""What SQL expressions over rows must not use: equal rows must always give equal results."""

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
