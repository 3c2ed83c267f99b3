"""Pairs as JSON Lines or CSV: every column, in the order of the rows."""

import json
from pathlib import Path

import polars as pl

from nnd.schemas import rows_of

# Valid in JSON, but some readers take them for the end of a line.
_LINE_ENDS = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"})

_OBJECTS = ("inputs", "metadata")

_FORMULA = r"^\s*[=+\-@＝＋－＠]|^[\t\r\n]"  # noqa: RUF001 - spreadsheets know both widths
"""First characters of a cell that a spreadsheet may compute (OWASP, CSV injection)."""


def write_jsonl(pairs: pl.DataFrame, path: Path) -> None:
    """Write one JSON object per pair, as the pair schema describes it: `inputs` is an object.

    `distinct` is beside the fields of the schema.
    """
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows_of(pairs):
            file.write(json.dumps(row, ensure_ascii=False).translate(_LINE_ENDS) + "\n")


def write_csv(pairs: pl.DataFrame, path: Path, *, for_excel: bool) -> list[str]:
    """Write a table in UTF-8 with a header; `inputs` and `metadata` are JSON objects.

    Returns the number of texts that a spreadsheet would compute, if any, as a remark.

    Every text is in quotes, a quote inside it is doubled, and line breaks stay (RFC 4180). A null
    is an empty field without quotes, which some readers (polars, PostgreSQL) distinguish from the
    empty text `""`. `for_excel` puts `'` before texts that spreadsheets would compute as formulas.
    """
    rows = list(rows_of(pairs.select(_OBJECTS)))
    table = pairs.with_columns(
        pl.Series(name, [json.dumps(row[name], ensure_ascii=False) for row in rows], pl.String)
        for name in _OBJECTS
    )
    texts = pl.col(pl.String).str
    n = sum(table.select(texts.contains(_FORMULA).sum()).row(0))
    remedy = "--for-excel puts a quote ' before each"
    if for_excel:
        table = table.with_columns(texts.replace(_FORMULA, "'${0}"))
        remedy = "each now has a quote ' before it"
    table.write_csv(path, quote_style="non_numeric")
    return [f"texts that a spreadsheet would read as formulas: {n:,}; {remedy}"] if n else []
