"""Result of `agree`: the agreement of pass rates with human scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import polars as pl

from nnd.metric.data import OVERALL, HumanNumber, is_of_all_splits
from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.shown_result import Result
from nnd.metric.numbers.statistics.correlation_estimates import (
    Correlations,
    Intervals,
    Permutations,
    PValues,
    Statistics,
)
from nnd.metric.numbers.statistics.correlations import STATISTICS
from nnd.metric.numbers.statistics.extrapolation import Extrapolation
from nnd.metric.numbers.statistics.intervals import Interval
from nnd.metric.numbers.statistics.system_bootstrap import FEWEST_SYSTEMS
from nnd.schemas import (
    SPARSE,
    UNSTORED,
    Count,
    FlatKeys,
    Share,
    StoredAs,
    counted,
)

COLUMNS = {"nnd": ("tau_b", "gap_r"), "wmt": ("accuracy", "pearson", "tau_b")}
"""Groups of statistics → the columns of the first table."""


class JudgedModel(NamedTuple):
    """A model matched to a system with a human score.

    Attributes:
        pass_rate: Its pass rate; from `system_correlations`, the mean score of the system's
            candidates.
        n: Number of tests, or None if unknown.
        human_score: The score of the system.
    """

    pass_rate: float
    n: int | None
    human_score: float


@dataclass(frozen=True, slots=True)
class CategoryAgreement(Correlations):
    """Agreement in one category.

    Attributes:
        n: Models compared.
        judged: These models, with the two numbers that are compared.
        human_numbers: The kinds of human scores; if there are several, one per aspect, their mean
            is used.
        dropped: Matched models without a pass rate or human score in this category.
        extrapolation: Human scores of the other models, predicted from their pass rates.
        accuracy: Share of the pairs of systems that both numbers order in the same way, ties
            included; None with fewer than two systems, and in older results, like its interval.
        accuracy_interval: Its 95 % interval over contexts, human scores held fixed; None without
            samples.
    """

    n: Count
    judged: Annotated[Mapping[str, JudgedModel], UNSTORED]
    human_numbers: Sequence[HumanNumber]
    dropped: Count
    extrapolation: Extrapolation
    accuracy: Share | None = None
    accuracy_interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class EqualLengthAgreement(Correlations):
    """Agreement of the pass rates at equal length in one category.

    Attributes:
        n: Models compared.
        dropped: Matched models without such a rate, or without a human score in this category.
    """

    n: Count
    dropped: Count


@dataclass(frozen=True, slots=True)
class MeanAgreement(Correlations):
    """Mean over the categories other than "overall" that define the statistic.

    Attributes:
        categories: Statistic → number of these categories.
    """

    statistics: Annotated[Statistics, StoredAs("mean")]
    intervals: Annotated[Intervals, StoredAs("mean_intervals")]
    intervals_over_systems: Annotated[Intervals, StoredAs("mean_intervals_over_systems")]
    p_values: Annotated[PValues, StoredAs("mean_p_values")]
    permutations: Annotated[Permutations | None, StoredAs("mean_permutations")]
    categories: Annotated[Mapping[str, Count], StoredAs("mean_categories")]


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Result):
    """Agreement between pass rates and human scores over the same systems.

    Attributes:
        by_category: Category → agreement in it, in the order of the pass rates; "overall" is one.
        mean: Over the categories other than "overall".
        systems: Model → the system that it stands for, in the order of `gap_r_laban2022`.
        unmatched: Models that are not matched to a system.
        scores_missing: Rows of human scores without a score, which were left out.
        unscored: Model → its tests without a likelihood, which count as failures; None if pass
            rates came without pairs. Of other metrics: system → its candidates without a score,
            which are left out of its mean.
        of_pass_rates: Whether pass rates were correlated, and not `system_correlations`.
        mixture: A sentence on the different protocols of the models, across which nothing is
            correlated; None if they have one.
        notes: How the models were scored, a sentence each; the mixture is the first. Older results
            lack it.
        equal_length: Category → agreement of the pass rates at equal numbers of tokens; empty if
            these are unknown, and in older results.
        columns: Statistics of the first table (`COLUMNS`).
    """

    by_category: Mapping[str, CategoryAgreement]
    mean: Annotated[MeanAgreement, FlatKeys()]
    systems: Mapping[str, str]
    unmatched: Sequence[str]
    scores_missing: Count
    unscored: Mapping[str, Count] | None
    of_pass_rates: Annotated[bool, UNSTORED] = True
    mixture: Annotated[str | None, UNSTORED] = None
    notes: Annotated[Sequence[str], SPARSE] = ()
    equal_length: Annotated[Mapping[str, EqualLengthAgreement], SPARSE] = field(
        default_factory=dict
    )
    columns: Annotated[tuple[str, ...], UNSTORED] = COLUMNS["nnd"]

    def headline(self) -> str:
        """Return the correlation over all tests, or a sentence that there are too few systems.

        Without pass rates over all tests, it is the mean over the categories.
        """
        if self.mixture is not None:
            return self.mixture
        main = self.main()
        what = "Pass rates" if self.of_pass_rates else "Mean scores"
        if main.n < FEWEST_SYSTEMS:
            return (
                f"Too few systems for a correlation: {what.lower()} and human scores of "
                f"{counted(main.n, 'system')} are known, but at least {FEWEST_SYSTEMS} are needed."
            )
        in_all = OVERALL in self.by_category
        statistics = main.statistics if in_all else self.mean.statistics
        values = [
            f"{name} {'undefined' if value is None else f'{value:.3f}'}"
            for name, value in (
                ("tau-b", statistics["tau_b"]),
                ("Pearson r", statistics["pearson"]),
            )
        ]
        return (
            f"{what} and human scores of {main.n} systems correlate with {' and '.join(values)} "
            f"({OVERALL if in_all else 'mean over categories'})."
        )

    def remarks(self) -> list[str]:
        """Return how models were scored, and a line that names those without a human score."""
        numbers = (n for each in self.by_category.values() for n in each.human_numbers)
        found = [note for note in self.notes if note != self.mixture]
        if any(is_of_all_splits(number.definition) for number in numbers):
            found.append(
                "Human scores are of all splits, because the annotations that they are made from "
                "are missing."
            )
        if self.unmatched:
            found.append(f"Without a human score: {', '.join(short_names(self.unmatched))}.")
        return found

    def over_all_tests(self) -> Mapping[str, float | None]:
        """Return statistic → correlation over all tests.

        It is None without a pass rate over all tests, and below FEWEST_SYSTEMS systems.
        """
        overall = self.by_category.get(OVERALL)
        if overall is None or overall.n < FEWEST_SYSTEMS:
            return dict.fromkeys(STATISTICS)
        return overall.statistics

    def main(self) -> CategoryAgreement:
        """Return the category of all tests, or else the one with the most systems."""
        most = max(self.by_category.values(), key=lambda category: category.n)
        return self.by_category.get(OVERALL, most)

    def to_frame(self) -> pl.DataFrame:
        """Return a row per category and statistic, and one for the mean over categories.

        Returns:
            category (null for the mean), statistic, n (systems, or categories behind the mean),
            value, low and high (95 % over contexts), low_over_systems, high_over_systems, p.
        """
        rows: list[tuple[object, ...]] = []
        for category, correlations in self.by_category.items():
            rows += _rows(category, correlations, dict.fromkeys(STATISTICS, correlations.n))
        rows += _rows(None, self.mean, self.mean.categories)
        return pl.DataFrame(rows, _SCHEMA, orient="row")


_NUMBERS = ("value", "low", "high", "low_over_systems", "high_over_systems", "p")
_SCHEMA = {
    "category": pl.String,
    "statistic": pl.String,
    "n": pl.Int64,
    **dict.fromkeys(_NUMBERS, pl.Float64),
}


def _rows(
    category: str | None, correlations: Correlations, counts: Mapping[str, int]
) -> Iterator[tuple[object, ...]]:
    for name in STATISTICS:
        yield (
            *(category, name, counts[name], correlations.statistics[name]),
            *(correlations.intervals[name] or (None, None)),
            *(correlations.intervals_over_systems[name] or (None, None)),
            correlations.p_values[name],
        )
