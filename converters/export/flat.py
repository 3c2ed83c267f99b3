"""Pairs as JSON Lines or CSV: every column, in the order of the rows."""

import json
from pathlib import Path

import polars as pl

from nnd.schemas import rows_of

# JSON leaves these as they are, and some readers take them for the end of a line.
_LINE_ENDS = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"})


def write_jsonl(pairs: pl.DataFrame, path: Path) -> None:
    """Write one JSON object per pair, as the pair schema describes it: `inputs` is an object."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows_of(pairs):
            file.write(json.dumps(row, ensure_ascii=False).translate(_LINE_ENDS) + "\n")


def write_csv(pairs: pl.DataFrame, path: Path) -> None:
    """Write a table in UTF-8 with a header; `inputs` is a JSON object.

    Every text stands in quotes, a quote inside it twice, and line breaks are kept (RFC 4180). A
    null is an empty field without quotes, which readers that look (polars, PostgreSQL) tell from
    the empty text `""`.
    """
    inputs = [json.dumps(row["inputs"], ensure_ascii=False) for row in rows_of(pairs)]
    pairs.with_columns(pl.Series("inputs", inputs, pl.String)).write_csv(
        path, quote_style="non_numeric"
    )
