"""Result of `agree`: the agreement of pass rates with human scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import polars as pl

from nnd.metric.data import HumanNumber, is_of_all_splits
from nnd.metric.numbers.agreement.human_noise import HumanNoise
from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.shown_result import Result
from nnd.metric.numbers.statistics.correlation_estimates import (
    Correlations,
    Intervals,
    Permutations,
    PValues,
    Reasons,
    Statistics,
)
from nnd.metric.numbers.statistics.correlations import STATISTICS
from nnd.metric.numbers.statistics.extrapolation import Extrapolation
from nnd.metric.numbers.statistics.intervals import Interval
from nnd.metric.numbers.statistics.over_systems import FEWEST_SYSTEMS
from nnd.schemas import (
    OVERALL,
    SPARSE,
    UNSTORED,
    Count,
    FlatKeys,
    Record,
    Share,
    StoredAs,
    counted,
)

COLUMNS = {
    "nnd": ("tau_b", "gap_r"),
    "wmt": ("system_accuracy", "pearson", "tau_b"),
    "laban2022": ("tau_a", "gap_r_laban2022", "gap_r"),
}
"""Groups of statistics → the columns of the first table."""

FEWEST_SHOWN = 3
"""Fewest systems whose correlations are shown where they are asked for: two always have -1 or 1."""


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
class WithoutOwn(Record):
    """Agreement if no model is tested on texts of the system it stands for.

    A model that wrote one of two candidates itself may prefer it for that reason.

    Attributes:
        statistics: Statistic → its value; None if undefined.
        intervals: Statistic → 95 % bootstrap interval over contexts, as in the category.
        pass_rates: Model → its pass rate on the other tests; None without such tests.
        n: Model → the number of these tests.
        interval_reasons: Statistic without an interval → why.
    """

    statistics: Annotated[Statistics, FlatKeys()]
    intervals: Intervals
    pass_rates: Mapping[str, Share | None]
    n: Mapping[str, Count]
    interval_reasons: Annotated[Reasons, SPARSE] = field(default_factory=dict)

    def sentence(self) -> str:
        """Return the two main correlations."""
        return (
            "Without each model's tests on texts of its own system, they correlate with "
            f"{_two(self.statistics, self.intervals)}."
        )


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
        human_noise: How much noise the human scores have; None if the judgements behind them are
            unknown, as for human scores of one's own. Older results lack it.
        without_own: Agreement without each model's tests on texts of its own system; None if the
            systems behind the texts are unknown. Older results lack it.
        system_accuracy: Share of the pairs of systems that both numbers order in the same way, ties
            included; None with fewer than two systems, and in older results, like its interval.
        system_accuracy_interval: Its 95 % interval over contexts, human scores held fixed; None
            where the contexts are unknown or too few.
        system_accuracy_interval_reason: Why there is no interval, although there is an accuracy.
    """

    n: Count
    judged: Annotated[Mapping[str, JudgedModel], UNSTORED]
    human_numbers: Sequence[HumanNumber]
    dropped: Count
    extrapolation: Extrapolation
    human_noise: Annotated[HumanNoise | None, SPARSE] = None
    without_own: Annotated[WithoutOwn | None, SPARSE] = None
    system_accuracy: Share | None = None
    system_accuracy_interval: Interval | None = None
    system_accuracy_interval_reason: Annotated[str | None, SPARSE] = None

    @property
    def says_something(self) -> bool:
        """Whether there are enough systems to correlate, and some of them are separable."""
        noise = self.human_noise
        return self.n >= FEWEST_SYSTEMS and (noise is None or noise.separable > 0)

    @property
    def is_shown(self) -> bool:
        """Whether there are enough systems to show a correlation to those who ask for it."""
        return self.n >= FEWEST_SHOWN


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
    interval_reasons: Annotated[Reasons, SPARSE, StoredAs("mean_interval_reasons")] = field(
        default_factory=dict, kw_only=True
    )
    interval_reasons_over_systems: Annotated[
        Reasons, SPARSE, StoredAs("mean_interval_reasons_over_systems")
    ] = field(default_factory=dict, kw_only=True)


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
        if main.human_noise is not None and not main.says_something:
            return (
                f"{main.human_noise.sentence()}, so a correlation of {what.lower()} with human "
                "scores would say nothing."
            )
        in_all = OVERALL in self.by_category
        of = main if in_all else self.mean
        return (
            f"{what} and human scores of {main.n} systems correlate with "
            f"{_two(of.statistics, of.intervals)} "
            f"({OVERALL if in_all else 'mean over categories'})."
        )

    def beside(self) -> list[str]:
        """Return what people's own judgements admit, and the agreement without own texts."""
        main, found = self.main(), []
        if self.mixture is not None:
            return []
        if main.human_noise is not None and (main.says_something or main.n < FEWEST_SYSTEMS):
            found += [f"{main.human_noise.sentence()}.", *main.human_noise.ceiling_sentence()]
        if FEWEST_SHOWN <= main.n < FEWEST_SYSTEMS:
            found.append(too_few_to_believe(main.n))
        if main.without_own is not None and main.says_something:
            found.append(main.without_own.sentence())
        return found

    def cautions(self) -> list[str]:
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

        It is None without a pass rate over all tests, below FEWEST_SYSTEMS systems, and if no
        systems are separable.
        """
        overall = self.by_category.get(OVERALL)
        if overall is None or not overall.says_something:
            return dict.fromkeys(STATISTICS)
        return overall.statistics

    @property
    def shows_chosen(self) -> bool:
        """Whether statistics were chosen, and there are enough systems to show them."""
        return self.columns != COLUMNS["nnd"] and self.main().is_shown

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


def _two(statistics: Statistics, intervals: Intervals) -> str:
    """Return the two main correlations, the second with its interval over contexts."""
    tau_b, r = (
        "undefined" if value is None else f"{value:.3f}"
        for value in (statistics["tau_b"], statistics["pearson"])
    )
    bounds = intervals["pearson"]
    interval = "" if bounds is None else f" [{bounds[0]:.2f}, {bounds[1]:.2f}]"
    return f"tau-b {tau_b} and Pearson r {r}{interval}"


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


def too_few_to_believe(n: int) -> str:
    """Return what to know about correlations of so few systems that they are only shown."""
    return (
        f"Correlations of {n} systems are printed where --details or --statistics asks for them. "
        f"They prove nothing: {n} systems have few orders, and fewer than {FEWEST_SYSTEMS} have no "
        "interval over systems."
    )
