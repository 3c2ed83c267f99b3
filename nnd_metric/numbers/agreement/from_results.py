"""Compute the agreement of stored results with human scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nnd.metric.data import (
    SLICES,
    TABLES,
    Judgements,
    check_same,
    fill_clusters,
    names_in,
    of_aspect,
    read_run,
    read_systems,
    read_table,
)
from nnd.metric.numbers.agreement.agreement import Agreement
from nnd.metric.numbers.agreement.at_equal_length import agree_at_equal_length
from nnd.metric.numbers.agreement.measures import try_agreement
from nnd.metric.numbers.agreement.own_pairs import WRITERS, add_without_own, with_writers
from nnd.metric.numbers.manners.manner import check_runs, name_readings
from nnd.metric.numbers.rates.alignment import shared_split
from nnd.metric.numbers.rates.context_sums import (
    NUMBERED,
    count_by_context,
    each_once,
    number_tests,
    tests_by_key,
)
from nnd.metric.numbers.rates.equal_length import LENGTHS, add_lengths
from nnd.metric.numbers.rates.pass_rates import SLICE_NUMBERS
from nnd.metric.numbers.statistics.intervals import FloatArray, bootstrap_ratios, stretches
from nnd.schemas import CONTEXT, OVERALL, ScoringError, kind_of

_PASS_RATES = {"model": pl.String, "category": pl.String, "pass_rate": pl.Float64}


def agree_scored(
    scored: pl.DataFrame,
    human_scores: pl.DataFrame | None,
    *,
    systems: Mapping[str, str] | None = None,
    aspect: str | None = None,
    order: Sequence[str] = (),
    judgements: Judgements | None = None,
) -> tuple[Agreement | None, str | None]:
    """Return the agreement and None, or None and the reason why there cannot be one.

    `scored` holds the scored pairs of all models, with a column `model`. Pairs of `aspect` (all, if
    pairs have no aspects) are compared with its human scores. The other arguments are those of
    `try_agreement`.
    """
    rated: dict[str, pl.DataFrame] = {}
    if human_scores is not None:
        of_aspect(human_scores, aspect)  # raises an error for an aspect that was not judged
        rated = _rated(with_writers(scored, judgements), human_scores, aspect)
    return agree_rated(
        rated, human_scores, systems=systems, aspect=aspect, order=order, judgements=judgements
    )


def agree_rated(
    rated: Mapping[str, pl.DataFrame],
    human_scores: pl.DataFrame | None,
    *,
    systems: Mapping[str, str] | None = None,
    aspect: str | None = None,
    order: Sequence[str] = (),
    judgements: Judgements | None = None,
) -> tuple[Agreement | None, str | None]:
    """Return what `agree_scored` returns, for model → result of `to_rate` for its pairs.

    All models were scored on the same pairs; the frames have the columns of SLICES and, if known,
    WRITERS, and their rows are in the order of pair_id.
    """
    if human_scores is None:
        return None, "the data has no human scores; pass human_scores (--human-scores)"
    if not rated:
        return None, "the data has no pairs"
    slices = pl.concat(rows.select(SLICES) for rows in rated.values())
    column, aspects = category_column(slices, human_scores), _values(slices["aspect"])
    if aspect is not None and aspects:
        if aspect not in aspects:
            return None, f'no pair has the aspect "{aspect}"; known: {", ".join(aspects)}'
        rated = {name: rows.filter(pl.col("aspect") == aspect) for name, rows in rated.items()}
    rates, samples, stretch = _tabulate(rated, column)
    options: dict[str, Any] = {"systems": systems, "aspect": aspect, "order": order}
    agreement, reason = try_agreement(
        rates, human_scores, samples=samples, stretch=stretch, judgements=judgements, **options
    )
    if agreement is not None:
        if all(WRITERS in rows.columns for rows in rated.values()):
            agreement = add_without_own(agreement, *_tabulate(rated, column, agreement.systems))
        unscored = {name: int(each_once(rows)["unscored"].sum()) for name, rows in rated.items()}
        equal_length = agree_at_equal_length(rated, column, human_scores, **options)
        agreement = replace(agreement, unscored=unscored, equal_length=equal_length)
    return agreement, reason


def read_scored(
    folders: Sequence[Path],
    *,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    data: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Read the log-likelihoods that `nnd evaluate` stored in some folders.

    Runs of one model that read contexts in different ways count as models, which are named by their
    readings (`name_readings`). `mixed_rules` accepts models that were scored by different rules
    (`manner`). Runs that lack the clusters of contexts take those of other runs, and of the pairs
    of the `data`.
    """
    readings = name_readings(folders) if all(map(Path.is_dir, folders)) else {}
    frames: list[pl.DataFrame] = []
    owner: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise ScoringError(
                "run.not-a-run",
                "not a folder",
                folder,
                "name folders that `nnd evaluate` wrote, or a single table",
            )
        frame = read_run(folder, splits)
        if folder in readings:
            frame = frame.with_columns(model=pl.lit(readings[folder]))
        for model in _values(frame["model"]):
            if model in owner:
                raise ScoringError(
                    "name.twice",
                    f'model "{model}" is in {owner[model]} and in {folder}',
                    remedy="name one of them",
                )
            owner[model] = folder
        frames.append(frame)
    if not mixed_rules:
        check_runs(folders)
    return pl.concat(fill_clusters(frames, data))


def stored_systems(
    folders: Sequence[Path], human_scores: pl.DataFrame, asked: Mapping[str, str] | None
) -> dict[str, str]:
    """Return model → the system it stands for, as requested or else as stored in its run.

    Stored systems that are not among the human scores are ignored.
    """
    chosen = dict(asked or {})
    free = {*names_in(human_scores, "system")} - {*chosen.values()}
    for folder in folders:
        for model, system in read_systems(folder).items():
            if model not in chosen and system in free:
                chosen[model] = system
                free.remove(system)
    return chosen


def read_pass_rates(path: Path) -> pl.DataFrame:
    """Return a table of pass rates, from 0 to 1, in a file."""
    if kind_of(path) not in TABLES:
        raise ScoringError(
            "file.not-a-table",
            "not a table",
            path,
            f"name a folder that `nnd evaluate` wrote, or a table: {', '.join(TABLES)}",
        )
    table = read_table(path, {*_PASS_RATES})
    if "pass_rate" in table.columns:
        table = table.with_numbers("pass_rate")
    try:
        rates = table.frame().select(
            pl.col(name).cast(dtype) for name, dtype in _PASS_RATES.items()
        )
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise ScoringError(
            "file.not-a-table",
            f"cannot be read as a table of {', '.join(_PASS_RATES)}: {reason}",
            path,
            "give it these columns, and save it as .csv, .json or .parquet",
        ) from error
    for name in ("model", "category"):
        if rates[name].null_count():
            raise ScoringError("cell.empty", f"a pass rate without {name}", path)
    outside = rates.filter(~pl.col("pass_rate").is_between(0, 1))
    if outside.height:
        raise ScoringError(
            "cell.out-of-range",
            f"pass_rate {outside['pass_rate'][0]} is not between 0 and 1",
            path,
            "divide percentages by 100",
        )
    return rates.with_columns(n=pl.lit(None, pl.Int64))


def category_column(scored: pl.DataFrame, human_scores: pl.DataFrame) -> str:
    """Return the column with the categories of the human scores.

    Sources with scores of single candidates have context categories (`category`); sources with
    labels have error categories (`error_category`).
    """
    judged = {*human_scores["category"]} - {OVERALL}
    return "category" if judged & {*_values(scored["category"])} else "error_category"


def _values(column: pl.Series) -> list[str]:
    return column.drop_nulls().unique(maintain_order=True).to_list()


def _rated(
    scored: pl.DataFrame, human_scores: pl.DataFrame, aspect: str | None
) -> dict[str, pl.DataFrame]:
    """Check that all models have the same pairs, and return the argument of `agree_rated`."""
    ordered = scored.sort("pair_id", maintain_order=True)  # rows may be stored in any order
    frames = {name: ordered.filter(pl.col("model") == name) for name in _values(scored["model"])}
    filled = {*CONTEXT, category_column(scored, human_scores)}
    filled |= set() if aspect is None else {"aspect"}
    for name, rows in frames.items():
        first, of_first = next(iter(frames.items()))
        if not rows["pair_id"].equals(of_first["pair_id"]):
            raise ScoringError(
                "run.another-data",
                f'models "{first}" and "{name}" were not scored on the same pairs',
                remedy=f"evaluate both on the same data{shared_split(of_first, rows)}",
            )
        if name != first:
            both = of_first.hstack(rows.rename(lambda column: f"{column}_b"))
            check_same(both, first, name, filled=filled)
    unscored = pl.col("ll_high").is_null() | pl.col("ll_low").is_null()
    writers = [WRITERS] if WRITERS in scored.columns else []
    return {
        name: add_lengths(rows)
        .select(*SLICE_NUMBERS, "passed", *LENGTHS, *writers, unscored=unscored)
        .hstack(number_tests(rows))
        for name, rows in frames.items()
    }


def _tabulate(
    rated: Mapping[str, pl.DataFrame], column: str, own: Mapping[str, str] | None = None
) -> tuple[pl.DataFrame, FloatArray, FloatArray]:
    """Return pass rates per model and category, and the `samples` and `stretch` of `try_agreement`.

    Given model → its `own` system, they are those of tests without a text of that system.
    """
    rates, counted = [], []
    for model, rows in rated.items():
        slices = [*tests_by_key(rows, column).items()]
        if own is not None and model in own:
            of_others = ~pl.col(WRITERS).list.contains(own[model]).fill_null(value=False)
            slices = [(value, tests.filter(of_others)) for value, tests in slices]
        counted.append(count_by_context(rows, [tests for _, tests in slices], key=NUMBERED))
        rates += [(model, value, tests["passed"].mean(), tests.height) for value, tests in slices]
    passes, tests = (np.concatenate(counts, axis=1) for counts in zip(*counted, strict=True))
    samples, stretch = bootstrap_ratios(passes, tests), stretches(tests)
    table = pl.DataFrame(rates, {**_PASS_RATES, "n": pl.Int64}, orient="row")
    return table, samples.reshape(len(samples), len(rated), -1), stretch.reshape(len(rated), -1)
