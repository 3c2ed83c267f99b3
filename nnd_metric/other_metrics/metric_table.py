"""Result of `metrics`: NND compared with other metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import polars as pl

from nnd.metric.data import describe_splits
from nnd.metric.numbers import (
    EACH_ONCE,
    Agreement,
    HumanNoise,
    OverDatasets,
    PassRates,
    Result,
    mean_defined,
    mean_over,
    percent,
    short_names,
)
from nnd.metric.other_metrics.candidate_correlations import (
    STATISTICS,
    CandidateAgreement,
    MeanJudgement,
)
from nnd.metric.other_metrics.common_basis import CommonBasis
from nnd.metric.other_metrics.metric_differences import AccuracyDifference, MetricDifference
from nnd.metric.other_metrics.pair_statistics import PAIR_STATISTICS, PairStatistics
from nnd.metric.other_metrics.scorers.letter_case import Normalise
from nnd.schemas import (
    OVERALL,
    SPARSE,
    UNSTORED,
    Name,
    Record,
    cells_of,
    parquet_bytes,
    write_folder,
)

METRICS, SCORES = "metrics.json", "scores.parquet"

MAIN = ("pass_rate", "gap_r", "candidate_spearman", "candidate_spearman_by_context")
"""Columns of `MetricTable.to_frame` that the first table shows."""

COLUMNS = {
    "nnd": MAIN,
    "wmt": ("pass_rate", "acc_eq_star", "acc_eq", "spa", "system_accuracy"),
    "laban2022": ("pass_rate", "mean_tau_a", "mean_gap_r_laban2022", "mean_gap_r"),
}
"""Groups of statistics → the columns of the first table."""

_SYSTEMS = ("tau_b", "tau_a", "spearman", "gap_r", "gap_r_laban2022")
MEANS = {f"mean_{name}": name for name in ("tau_a", "gap_r_laban2022", "gap_r")}
"""Column → the statistic over systems of which it is the mean over the categories of tests."""

_FRAME = {
    "metric": pl.String,
    "kind": pl.String,
    "n": pl.Int64,
    "pass_rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "ties": pl.Int64,
    "systems": pl.Int64,
    **dict.fromkeys(_SYSTEMS, pl.Float64),
    **dict.fromkeys(MEANS, pl.Float64),
    **{f"candidate_{name}": pl.Float64 for name in STATISTICS},
    **{f"candidate_{name}_by_context": pl.Float64 for name in STATISTICS},
}


@dataclass(frozen=True, slots=True)
class MetricRow(Record):
    """One metric, and how well it agrees with people.

    Attributes:
        name: Name of the scorer or the model; "NND pass rate" for all models of a run together.
        kind: The kind of row.
        definition: A description of the computation in one line; "" if unknown.
        rates: Pass rates on the NND pairs; None for NND itself, which has one per model.
        systems: Agreement with the human scores of systems, or None.
        systems_reason: Why there is no such agreement, or None.
        candidates: Aspect to agreement on single candidates; empty for NND itself.
        pairs: Aspect to the requested statistics over pairs; empty if there are none, for NND
            itself, and in older results.
    """

    name: Name
    kind: Literal["scorer", "model", "nnd"]
    definition: str
    rates: PassRates | None
    systems: Agreement | None
    systems_reason: str | None
    candidates: Mapping[str, CandidateAgreement]
    pairs: Annotated[Mapping[str, PairStatistics], SPARSE] = field(default_factory=dict)

    def main_numbers(self) -> dict[str, float | None]:
        """Return the numbers of the first table, or None; those over pairs only if requested."""
        numbers = _frame_row(self)
        numbers["gap_r"] = self.systems and self.systems.over_all_tests()["gap_r"]
        means = {
            name: mean_defined([each.values[name] for each in self.pairs.values()])
            for name in (PAIR_STATISTICS if self.pairs else ())
        }
        return means | {name: numbers.get(name) for name in (*MAIN, *MEANS)}


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class MetricTable(Result):
    """NND compared with other metrics.

    Attributes:
        judgement: A description of the human judgements of single candidates.
        people: Aspect → system → their mean over its candidates.
        differences: Differences between every two rows over the same candidates.
        shared: The common basis of all rows; None if each row uses everything that it has.
        normalise: What reference metrics did to candidates and references first, or None.
        notes: What to know about the data and how models were scored, a sentence each. Older
            results lack it.
        splits: The splits of the tests, if the data has several; else empty. Older results lack it.
        statistics: Columns of the first table (`COLUMNS`).
        accuracy_differences: Of the metric with the highest acc_eq_star under each aspect from each
            of the others, if this statistic was requested.
        reliability: Aspect → Krippendorff's alpha of its annotators, if statistics over pairs were
            requested. It says how far annotators agree, and bounds no metric.
        human_noise: How much noise the human scores of the systems have; None if the judgements
            behind them are unknown. Older results lack it.
        rows: Scorers, then models, then NND itself.
        scores: All scores: scorer, split, context_id, candidate_id, score.
    """

    judgement: Name
    normalise: Normalise | None = None
    notes: tuple[Name, ...] = ()
    people: Mapping[str, Mapping[str, MeanJudgement]]
    differences: tuple[MetricDifference, ...]
    shared: CommonBasis | None
    splits: Sequence[str] = ()
    statistics: Annotated[tuple[str, ...], SPARSE] = MAIN
    accuracy_differences: Annotated[tuple[AccuracyDifference, ...], SPARSE] = ()
    reliability: Annotated[Mapping[str, float], SPARSE] = field(default_factory=dict)
    human_noise: Annotated[HumanNoise | None, SPARSE] = None
    rows: tuple[MetricRow, ...]
    scores: Annotated[pl.DataFrame, UNSTORED]

    def headline(self) -> str:
        """Return the metric with the highest pass rate, and what people's judgement is here."""
        rates = {row.name: row.rates.overall for row in self.rows if row.rates is not None}
        if not any(rate.n for rate in rates.values()):
            n = max((each.n for row in self.rows for each in row.candidates.values()), default=0)
            judged = f", but {n:,} single candidates were" if n else ""
            return f"No test was judged by {len(self.rows)} metrics{judged}."
        best = max(rates, key=lambda name: rates[name].passes)
        rate, name = rates[best], dict(zip(rates, short_names([*rates]), strict=True))[best]
        of = f" ({describe_splits(self.splits)})" if self.splits else ""
        return (
            f"{name} passes {percent(rate.passes / rate.n)} % of {rate.n:,} tests{of}, the highest "
            f"of {len(rates)} metrics{_option(self.normalise)}. People's judgement of a candidate: "
            f"{self.judgement}."
        )

    def to_frame(self) -> pl.DataFrame:
        """Return a row per metric.

        Returns:
            metric, kind, n, pass_rate, low and high (as in `rate_frame`), ties; systems and
            their tau_b, tau_a, spearman, gap_r and gap_r_laban2022 over all tests, and mean_tau_a,
            mean_gap_r_laban2022 and mean_gap_r over the categories of tests, for at least
            FEWEST_SHOWN systems; and for single candidates, each a mean over aspects,
            candidate_spearman, candidate_pearson and candidate_tau_b (pooled) and the same with
            _by_context (mean within contexts). Null if undefined.
        """
        rows = ({name: cells.get(name) for name in _FRAME} for cells in map(_frame_row, self.rows))
        return pl.DataFrame([*rows], _FRAME)

    def write(self, folder: str | Path) -> None:
        """Write a folder of metrics.json and scores.parquet, or replace an older one.

        Raises:
            NNDError: If the folder holds anything that nnd did not write, or cannot be written.
        """
        files = {SCORES: parquet_bytes(self.scores)}
        write_folder(Path(folder), self.to_dict(), document=METRICS, files=files)


@dataclass(frozen=True, slots=True, repr=False)
class MetricTables(OverDatasets[MetricTable]):
    """NND compared with other metrics on several datasets.

    Attributes:
        noun: What the tables are of.
    """

    noun: ClassVar[str] = "dataset"

    def mean(self) -> dict[str, dict[str, float | None]]:
        """Return metric → column of MAIN → mean over the datasets, for metrics on all of them."""
        tables = self.datasets.values()
        rows = [{row.name: row.main_numbers() for row in table.rows} for table in tables]
        shared = [name for name in rows[0] if all(name in of_table for of_table in rows)]
        return {name: mean_over([of_table[name] for of_table in rows]) for name in shared}

    def headline(self) -> str:
        """Return the metric with the highest mean pass rate over datasets."""
        n = len(self.datasets)
        means = {name: numbers["pass_rate"] for name, numbers in self.mean().items()}
        rates = {name: rate for name, rate in means.items() if rate is not None}
        if not rates:
            return (
                f"The mean over the {n} datasets is undefined: no metric judged tests on all of "
                "them."
            )
        best = max(rates, key=lambda name: rates[name])
        name = dict(zip(rates, short_names([*rates]), strict=True))[best]
        option = _option(next(iter(self.datasets.values())).normalise)
        return (
            f"Mean over {n} datasets, {EACH_ONCE}: {name} passes {percent(rates[best])} % of "
            f"tests, the highest of {len(rates)} metrics{option}."
        )


def _option(normalise: Normalise | None) -> str:
    return "" if normalise is None else f" (--normalise {normalise})"


def _frame_row(row: MetricRow) -> dict[str, Any]:
    values: dict[str, Any] = {"metric": row.name, "kind": row.kind}
    if row.rates is not None:
        values |= cells_of(row.rates.overall)
    if row.systems is not None:
        overall = row.systems.by_category[OVERALL]
        values |= {"systems": overall.n, **{name: overall.statistics[name] for name in _SYSTEMS}}
        if overall.is_shown:
            mean = row.systems.mean.statistics
            values |= {column: mean[name] for column, name in MEANS.items()}
    for name in STATISTICS:
        pooled = [each.sample[name] for each in row.candidates.values()]
        within = [each.by_context[name] for each in row.candidates.values()]
        values[f"candidate_{name}"] = mean_defined(pooled)
        values[f"candidate_{name}_by_context"] = mean_defined(within)
    return values
