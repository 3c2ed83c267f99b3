"""Values that other metrics gave to candidates elsewhere: COMET, GEMBA, judges, reward models.

A table has a column per metric, and columns that say which candidate a row is of. Rows of no
candidate and empty cells are counted; where they are most of the table, it is of other data.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from nnd.metric.data import Column, OwnTable, Table, read_table, to_frame
from nnd.metric.other_metrics.judged_candidates import CANDIDATE
from nnd.schemas import METRICS, ScoringError, counted, did_you_mean, read_number

_KEYS = (("candidate_id",), ("context_id", "system"), ("context", "candidate"), ("candidate",))
"""Columns that say which candidate a row is of, the first that a table has; `split` may be one."""

_NOT_VALUES = {"split", "reference", "references", *(name for key in _KEYS for name in key)}

_LEAST = 0.5
"""Smallest share of rows that must be of candidates of the data."""


class StoredValues(NamedTuple):
    """The values of one metric, and where they are from, in words.

    The columns are split, candidate_id and score, higher is better; candidates without one are
    absent.
    """

    values: pl.DataFrame
    definition: str


class ValueTable(NamedTuple):
    """The values of all metrics in a table, by name, and notes on rows that were not used."""

    metrics: dict[str, StoredValues]
    notes: tuple[str, ...]


NO_VALUES = ValueTable({}, ())


def read_values(
    source: str | Path | Table | None, candidates: pl.DataFrame, lower: Collection[str] = ()
) -> ValueTable:
    """Read a table of values: a .csv, .jsonl or .parquet file, or one in memory.

    A source of None has no metrics. The candidates of the data have split, context_id, system,
    context, candidate_id and candidate. Of the metrics called `lower`, lower values are better.
    """
    if source is None and not lower:
        return NO_VALUES
    if source is None:
        raise ScoringError(
            "scores.other-candidates",
            f"{', '.join(lower)} is in no table",
            "lower",
            "name one (--scores)",
        )
    if isinstance(source, str | Path):
        table, name = read_table(Path(source)), str(source)
    else:
        table, name = OwnTable.of(to_frame(source), "scores"), "scores"
    key = next((each for each in _KEYS if {*each} <= table.columns.keys()), None)
    if key is None:
        wanted = ", or ".join(" and ".join(each) for each in _KEYS)
        raise ScoringError(
            "scores.other-candidates",
            f"no columns say which candidate a row is of: {wanted}",
            name,
            f"the columns are {', '.join(table.columns)}",
        )
    rows = _match(table, key, candidates)
    n_strangers = rows.filter(pl.col("candidate_id").is_null())["row"].n_unique()
    n_rows = rows["row"].n_unique()
    if n_rows - n_strangers < _LEAST * n_rows or not n_rows:
        raise ScoringError(
            "scores.other-candidates",
            f"only {n_rows - n_strangers:,} of {counted(n_rows, 'row')} are of candidates "
            f"of the data, by {' and '.join(key)}",
            name,
        )
    _check_count(table, name)
    metrics, others = {}, []
    for metric in table.columns.keys() - _NOT_VALUES:
        values = _numbers(table, metric)
        if values is None:
            others.append(metric)
            continue
        sign = -1.0 if metric in lower else 1.0
        of_metric = rows.join(values, on="row").drop_nulls(["candidate_id", "score"])
        _check_repeated(of_metric, metric, table)
        found = of_metric.select(*CANDIDATE, pl.col("score") * sign).unique(CANDIDATE)
        better = "lower" if metric in lower else "higher"
        definition = f"values of {Path(name).name}, {better} is better; {found.height:,} candidates"
        metrics[metric] = StoredValues(found, definition)
    ordered = {metric: metrics[metric] for metric in table.columns if metric in metrics}
    for metric in lower:
        if metric not in ordered:
            raise ScoringError(
                "name.unknown",
                f'{name} has no metric "{metric}"{did_you_mean(metric, ordered)}',
                "lower",
                f"its metrics are {', '.join(ordered) or 'none'}",
            )
    return ValueTable(ordered, tuple(_notes(name, n_strangers, sorted(others))))


def _check_count(table: OwnTable, name: str) -> None:
    if (n := len(table.columns.keys() - _NOT_VALUES)) > METRICS.most:
        raise ScoringError(
            "scores.too-many",
            f"has {n:,} columns beside those that name the candidate, more than {METRICS.most:,}: "
            "every metric is compared with every other",
            name,
            "keep the columns of fewer metrics, compare them in parts, or set "
            f"{METRICS.variable} to more",
        )


def _match(table: OwnTable, key: Sequence[str], candidates: pl.DataFrame) -> pl.DataFrame:
    """Return row, split and candidate_id of each row of a table; null for no candidate."""
    on = [*key, *(["split"] if "split" in table.columns else [])]
    names = pl.concat_list("system", pl.col("system").str.split("|"))  # of texts that are shared
    known = candidates.with_columns(names).explode("system")
    known = known.select(*(pl.col(each).alias(f"its_{each}") for each in on), *CANDIDATE).unique(
        maintain_order=True
    )
    texts = {f"its_{each}": _texts(table.columns[each]) for each in on}
    own = pl.DataFrame(texts).with_row_index("row")
    return own.join(known, on=[*texts], how="left", maintain_order="left").select("row", *CANDIDATE)


def _texts(column: Column) -> pl.Series:
    return pl.Series([None if value is None else str(value) for value in column], dtype=pl.String)


def _numbers(table: OwnTable, metric: str) -> pl.DataFrame | None:
    """Return row and score of a column, or None if it holds texts."""
    values: list[float | None] = []
    wrong: list[int] = []
    for row, value in enumerate(table.columns[metric]):
        try:
            number = None if value is None or value == "" else read_number(value)
        except TypeError:
            number = None
            wrong.append(row)
        if number is not None and not math.isfinite(number):
            raise ScoringError("cell.not-finite", f"{metric} is {number}", table.where(row))
        values.append(number)
    if wrong and any(value is not None for value in values):
        cell = table.columns[metric][wrong[0]]
        raise ScoringError("cell.not-a-number", f'{metric} is "{cell}"', table.where(wrong[0]))
    score = pl.Series(values, dtype=pl.Float64)
    return None if wrong else pl.DataFrame({"score": score}).with_row_index("row")


def _check_repeated(rows: pl.DataFrame, metric: str, table: OwnTable) -> None:
    twice = rows.group_by(CANDIDATE, maintain_order=True).agg("row", pl.col("score").unique())
    for _, candidate, numbers, scores in twice.filter(pl.col("score").list.len() > 1).iter_rows():
        raise ScoringError(
            "row.twice",
            f"candidate {candidate} has another {metric} at {table.where(numbers[0])} "
            f"({scores[0]:g} and {scores[1]:g})",
            table.where(numbers[-1]),
        )


def _notes(name: str, strangers: int, others: Sequence[str]) -> Iterator[str]:
    if strangers:
        yield f"{counted(strangers, 'row')} of {name} are of no candidate of the data."
    if others:
        yield f"{name}: columns without numbers were not read: {', '.join(others)}."
