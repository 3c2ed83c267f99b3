"""User-defined slices: SQL conditions over pairs, and combinations of slices."""

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from nnd.metric.numbers.slices.axes import MEASURES, read_axes
from nnd.metric.numbers.slices.axis_values import NAME_DATA, numbers_of, parts_in
from nnd.metric.numbers.slices.named_slices import Members
from nnd.schemas import ScoringError, did_you_mean, excerpt, first_line, parse_sql


def where_true(
    pairs: pl.DataFrame, condition: str, annotations: pl.DataFrame | None = None
) -> Members:
    """Return for every pair whether an SQL condition is true.

    Its columns are those of the pairs, the numeric axes by name (`length`, `novelty`, …), and the
    parts of inputs and metadata, in this order.

    Raises:
        ScoringError: If it is not SQL, uses an unknown name, is not true or false for each pair, or
            reads a file or the clock.
    """
    where = f'--where "{excerpt(condition)}"'
    expression = parse_sql(condition, where, ScoringError, own_row=False)
    if not expression.columns:
        raise ScoringError(
            "expression.invalid",
            "the condition does not use a column, so it is the same for all pairs",
            where,
            "use a column",
        )
    columns = [_column(pairs, name, annotations, where) for name in expression.columns]
    try:
        found = expression.evaluate(columns)
    except pl.exceptions.PolarsError as error:
        raise ScoringError(
            "expression.invalid", f"the condition cannot be computed: {first_line(error)}", where
        ) from error
    if found.dtype != pl.Boolean or len(found) != pairs.height:
        raise ScoringError(
            "expression.invalid",
            f"gives {found.dtype} for {len(found):,} rows, and not true or false for each pair",
            where,
            "compare a column with something",
        )
    return found.fill_null(value=False).to_numpy()


def _column(
    pairs: pl.DataFrame, name: str, annotations: pl.DataFrame | None, where: str
) -> pl.Series:
    if name in pairs.columns:
        return pairs[name]
    if name in MEASURES:
        (axis,) = read_axes([name])
        return pl.Series(name, numbers_of(axis, pairs, annotations)).fill_nan(None)
    parts = parts_in(pairs)
    known = sorted({part for each in parts for part in each})
    if name not in known:
        columns = [*pairs.columns, *MEASURES, *known]
        more = "" if "context" in pairs.columns else f"; {NAME_DATA} for more"
        raise ScoringError(
            "name.unknown",
            f'unknown column "{name}"{did_you_mean(name, columns)}',
            where,
            f"there are {', '.join(columns)}{more}",
        )
    return pl.Series(name, [each.get(name) for each in parts], pl.String)


_OPERATIONS: Mapping[str, Callable[[Members, Members], Members]] = {
    "&": np.logical_and,
    "|": np.logical_or,
    "-": lambda a, b: a & ~b,
}


def combine(text: str, known: Mapping[str, Members]) -> Members:
    """Return the pairs of slices combined by `&` (both), `|` (either) or `-` (but not).

    Signs are applied from left to right, and have a space on each side: "shape=number &
    length=[0,500)".
    """
    members, rest = _take(text.strip(), known)
    while rest:
        sign, _, after = rest.strip().partition(" ")
        if sign not in _OPERATIONS:
            raise _unknown(text, known)
        other, rest = _take(after.strip(), known)
        members = _OPERATIONS[sign](members, other)
    return members


def _take(text: str, known: Mapping[str, Members]) -> tuple[Members, str]:
    """Return the slice with the longest name that a text begins with, and the rest."""
    begins = [name for name in known if text == name or text.startswith(f"{name} ")]
    if not begins:
        raise _unknown(text, known)
    name = max(begins, key=len)
    return known[name], text[len(name) :]


def _unknown(text: str, known: Mapping[str, Members]) -> ScoringError:
    return ScoringError(
        "name.unknown",
        f"does not begin with the name of a slice{did_you_mean(text, known)}; "
        f"slices: {', '.join(known)}",
        f'--slice "{excerpt(text)}"',
        "join names by & (both), | (either) or - (but not) with a space on each side",
    )
