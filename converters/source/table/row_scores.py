"""Numbers that a row gives its candidate: scores, ratings, ranks, and best or worst of several."""

from nnd.converters.reading import shown
from nnd.converters.source.table.row_cells import ANY_NUMBER, Row
from nnd.converters.source.table.row_steps import NAME, NAMES
from nnd.converters.source.table.section import Table
from nnd.schemas import SourceError


def read_score(row: Row, table: Table, aspect: str) -> float | None:
    """Return the score of a candidate under an aspect; None if it has none.

    A rank becomes a negative score, so that rank 1 is highest. If a row names the best and the
    worst of its candidates, these score 1 and -1, and the others 0.
    """
    if aspect in table.get("scores", {}):
        return row.number(table["scores"][aspect], _scale(table, aspect))
    if aspect in table.get("ranks", {}):
        return _read_rank(row, table["ranks"][aspect])
    if aspect in table.get("best_worst", {}):
        named = table["best_worst"][aspect]
        return _is_named(row, named["best"]) - _is_named(row, named["worst"])
    return None


def read_ratings(row: Row, table: Table, aspect: str) -> list[float] | None:
    """Return the ratings of a candidate under an aspect; empty cells are skipped."""
    if aspect not in table.get("ratings", {}):
        return None
    scale = _scale(table, aspect)
    numbers = [row.number(column, scale) for column in table["ratings"][aspect]]
    return [number for number in numbers if number is not None]


def _scale(table: Table, aspect: str) -> tuple[float, float]:
    lowest, highest = table.get("scale", {}).get(aspect, ANY_NUMBER)
    return lowest, highest


def _read_rank(row: Row, column: str) -> float | None:
    rank = row.number(column)
    if rank is not None and rank < 1:
        raise SourceError(
            f"{row.place(column)}: {rank:g} is not a rank: the best has rank 1; correct the cell, "
            "or compute ranks from 1 in source.yaml"
        )
    return None if rank is None else -rank


def _is_named(row: Row, column: str) -> float:
    """Return 1 if a cell names the candidate of a split row, else 0."""
    cell, names = row.filled(column), row.texts(NAMES)
    if cell and cell not in names:
        raise SourceError(
            f"{row.place(column)}: {shown(cell)} is not one of the candidates of its row "
            f"({', '.join(names)}); correct the cell"
        )
    return float(cell == row.text(NAME))
