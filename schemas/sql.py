"""What SQL expressions over rows may not do: the same rows must always give the same result."""

import re

READS_FILES = re.compile(r"(read|scan)_\w+", re.IGNORECASE)
"""Functions such as `read_csv`, which polars would call while it parses; found within texts, too,
so that no way of quoting hides them."""

READS_CLOCK = re.compile(
    r"\b(now(?=\s*\()|current_(?:date|time|timestamp)\b|localtime(?:stamp)?\b)", re.IGNORECASE
)
"""What polars would replace by the present time; found within texts, too."""

SUBQUERY = "_POLARS_TMP_SQL"
"""How the name of a column begins that polars makes of a subquery."""
