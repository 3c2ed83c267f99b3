"""Reports on the form and length of texts, and steps that change texts on request.

Every manifest has the report and names the steps taken.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import polars as pl

from nnd.schemas import CONTEXT, DISTINCT, NORMAL_FORMS, check_known, distinct_in_order

_WRONGLY_DECODED = (
    # U+FFFD replaces bytes that were not text. UTF-8 read as Latin-1 or Windows-1252 turns one
    # character into two to four: \u00e9 into \u00c3 and \u00a9. The first is followed by one of
    # U+0080 to U+00BF, or by what Windows-1252 has for the bytes 0x80 to 0x9f.
    "\ufffd|(?:[\u00c2\u00c3]|\u00e2[\u0080\u20ac]|\u00f0[\u009f\u0178])[\u0080-\u00bf"
    "\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018"
    "\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]"
)

_LOOKS = {
    # Scripts without case, such as Chinese, have no lower-cased texts.
    "lower_cased": pl.col("candidate").str.contains(r"\p{Ll}")
    & ~pl.col("candidate").str.contains(r"[\p{Lu}\p{Lt}]"),
    # A plain space before a single punctuation mark; Penn Treebank brackets, quotation
    # marks and negations. French no-break spaces and emoticons do not match.
    "tokenised": pl.col("candidate").str.contains(
        r"(?i) [.,;:!?](?:\s|$)| [)\]}](?:[\s.,;:!?]|$)|-[lr][rsc]b-|``|\sn['\u2019]t\b"
    ),
    "doubled_spaces": pl.col("candidate").str.contains("  ", literal=True),
    # Tabs and line ends are not counted.
    "control_characters": pl.col("candidate").str.contains(r"[\p{Cc}&&[^\t\n\r]]"),
    # Reported, not refused: a system may have written it, and N\u00c3\u2026 may be Portuguese.
    "wrongly_decoded": pl.col("candidate").str.contains(_WRONGLY_DECODED),
}


_LENGTHS = {side: pl.col(f"candidate_{side}").str.len_chars() for side in ("high", "low")}


def report_hygiene(annotations: pl.DataFrame, pairs: pl.DataFrame) -> dict[str, Any]:
    """Report the form of the texts of a source, and the pass rates of choosing by length alone.

    Args:
        annotations: Rows of the annotation schema; a candidate counts once, and for each of its
            systems.
        pairs: Rows of the pair schema, in the order in which they are stored.

    Returns:
        `systems`: system → n and the shares of its candidates that are lower_cased (letters with
        case, none of them upper), tokenised (a space before punctuation, `-lrb-`, …), have
        doubled_spaces or control_characters, or are wrongly_decoded (U+FFFD, or UTF-8 read as
        Latin-1). `contexts`: n, and the share of them that are wrongly_decoded. `pairs`: n,
        mean_characters_high, mean_characters_low (code points), and the pass rates of
        shorter_wins, longer_wins (strictly) and a coin; overall (distinct pairs of candidates) and
        by_error_category (all rows).
    """
    lengths = pairs.select(*DISTINCT, "error_category", **_LENGTHS)
    return {
        "systems": _report_systems(annotations),
        "contexts": _report_contexts(annotations),
        "pairs": {
            "overall": _report_lengths(distinct_in_order(lengths)),
            "by_error_category": {
                str(category): _report_lengths(rows)
                for (category,), rows in sorted(lengths.group_by("error_category"))
            },
        },
    }


def report_form(texts: pl.Series) -> dict[str, float]:
    """Report the form of texts, such as references, as `report_hygiene` does for candidates."""
    looks = texts.to_frame("candidate").select(**_LOOKS).mean().row(0, named=True)
    return {"n": len(texts), **looks}


def _report_systems(annotations: pl.DataFrame) -> dict[str, dict[str, float]]:
    key = ["split", "candidate_id"]
    candidates = annotations.select(*key, "candidate", "system").unique(key)
    by_system = (
        candidates.filter(pl.col("system").is_not_null())
        .with_columns(**_LOOKS)
        .with_columns(pl.col("system").str.split("|").list.unique())
        .explode("system")
        .group_by("system")
        .agg(pl.len().alias("n"), *(pl.col(look).sum() for look in _LOOKS))
        .sort("system")
    )
    return {
        row["system"]: {"n": row["n"], **{look: row[look] / row["n"] for look in _LOOKS}}
        for row in by_system.iter_rows(named=True)
    }


def _report_contexts(annotations: pl.DataFrame) -> dict[str, float]:
    contexts = annotations.select(*CONTEXT, "context").unique(CONTEXT)
    broken = contexts.filter(pl.col("context").str.contains(_WRONGLY_DECODED)).height
    return {"n": contexts.height, "wrongly_decoded": broken / max(contexts.height, 1)}


def report_lengths(pairs: pl.DataFrame) -> dict[str, float | None]:
    """Report the pass rates of choosing by length alone, as `report_hygiene` does."""
    return _report_lengths(pairs.select(**_LENGTHS))


def _report_lengths(lengths: pl.DataFrame) -> dict[str, float | None]:
    """Count in whole numbers and divide at the end, so that the order of rows does not matter."""
    high, low = pl.col("high"), pl.col("low")
    sums = lengths.select(
        mean_characters_high=high.sum(),
        mean_characters_low=low.sum(),
        shorter_wins=(high < low).sum(),
        longer_wins=(high > low).sum(),
    ).row(0, named=True)
    n = lengths.height
    rates = {name: found / n if n else None for name, found in sums.items()}
    return {"n": n, **rates, "coin": 0.5}


def normalise_texts(rows: pl.DataFrame, steps: Sequence[str]) -> pl.DataFrame:
    """Change candidates, contexts and inputs, or references, by named steps in the order given.

    The steps are names of NORMAL_FORMS (`check_steps`). Ids stay, except for pair_ids, which depend
    on texts.
    """
    for step in steps:
        rows = change_texts(rows, NORMAL_FORMS[step])
    return rows


PARTS = ("inputs", "metadata")
"""Columns with name → text of a context."""


def change_texts(rows: pl.DataFrame, change: Callable[[str], str]) -> pl.DataFrame:
    """Change candidates, contexts, inputs and metadata, or references.

    Where a candidate changes, spans no longer fit, and the column is left out.
    """
    (column,) = {"candidate", "reference"}.intersection(rows.columns)
    changed = rows.with_columns(pl.Series(column, map(change, rows[column]), pl.String))
    if column == "reference":
        return changed
    if not changed[column].equals(rows[column]):
        changed = changed.drop("spans", strict=False)
    return _change_contexts(changed, change)


def _change_contexts(annotations: pl.DataFrame, change: Callable[[str], str]) -> pl.DataFrame:
    """Change contexts, inputs and metadata; every distinct context only once."""
    parts = [name for name in PARTS if name in annotations.columns]
    contexts = annotations.select(*CONTEXT, "context", *parts).unique(CONTEXT)
    changed = contexts.with_columns(
        pl.Series("context", map(change, contexts["context"]), pl.String),
        *(_change_parts(contexts[name], change) for name in parts),
    )
    return (
        annotations.drop("context", *parts)
        .join(changed, on=CONTEXT, how="left", maintain_order="left")
        .select(annotations.columns)
    )


def _change_parts(parts: pl.Series, change: Callable[[str], str]) -> pl.Series:
    changed = [[{**part, "value": change(part["value"])} for part in each] for each in parts]
    return pl.Series(parts.name, changed, parts.dtype)


def check_steps(steps: Iterable[str]) -> None:
    """Raise an NNDError for a step that is not known."""
    check_known("step", steps, NORMAL_FORMS, "--normalise", code="option.unknown-value")
