"""Results of `compare`: one comparison of two models, and several comparisons."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import polars as pl

from nnd.metric.data import SLICES, describe_splits
from nnd.metric.numbers.comparison.model_differences import ModelDifference
from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.rates.by_dataset import EACH_ONCE, mean_over
from nnd.metric.numbers.rates.cluster_words import over_clusters
from nnd.metric.numbers.shown_result import Result
from nnd.metric.numbers.statistics.interval_text import percent
from nnd.schemas import SPARSE, UNSTORED, Count, FlatKeys, Keys, Name, counted, record_frame

_COLUMNS = (
    *("data", "first", "second", "slice", "value", "n", "rate", "other", "difference", "low"),
    *("high", "only_first", "only_second", "p", "p_holm", "verdict"),
    *(f"equal_length_{name}" for name in ("n", "rate", "other", "difference", "low", "high")),
)


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Comparison(Result):
    """Two models on the pairs of one dataset that both were scored on.

    Attributes:
        data: The dataset, if there are comparisons on several; else None.
        first: Label of the first model.
        second: Label of the second model.
        signature_first: Signature of the first model, or None.
        signature_second: Signature of the second model, or None.
        n_pairs: Pairs that both were scored on.
        only_in_first: Pairs that only the first was scored on, which are left out.
        only_in_second: Pairs that only the second was scored on, which are left out.
        splits: The splits of the tests, if the data has several; else empty.
        cluster: What the clusters of contexts are called that intervals are over, such as
            paragraph; None if nothing is declared, or unknown.
        overall: Difference over distinct candidates.
        by: Column of SLICES → value → difference over its pairs.
        sentences: The findings as sentences, including the cautions.
        cautions: Caveats, a sentence each.
    """

    data: str | None = None
    first: Name
    second: Name
    signature_first: str | None
    signature_second: str | None
    n_pairs: Count
    only_in_first: Count
    only_in_second: Count
    splits: tuple[str, ...] = ()
    cluster: Annotated[str | None, SPARSE] = None
    overall: ModelDifference
    by: Annotated[Mapping[str, Mapping[str, ModelDifference]], Keys(SLICES), FlatKeys("by_")]
    sentences: tuple[str, ...]
    cautions: Annotated[tuple[str, ...], UNSTORED]

    @property
    def labels(self) -> tuple[str, str]:
        """Labels of both models."""
        return self.first, self.second

    @property
    def rates(self) -> tuple[float, float]:
        """Pass rates of both models over all tests."""
        return self.overall.rate or 0.0, self.overall.other or 0.0

    @property
    def is_clear(self) -> bool:
        """Whether the difference over all tests is significant."""
        return self.overall.verdict in ("first", "second")

    def better_first(self) -> "Comparison":
        """Return the comparison with the model of the higher pass rate first."""
        if (self.overall.difference or 0) >= 0:
            return self
        return replace(
            self,
            first=self.second,
            second=self.first,
            signature_first=self.signature_second,
            signature_second=self.signature_first,
            only_in_first=self.only_in_second,
            only_in_second=self.only_in_first,
            overall=self.overall.turned(),
            by={
                column: {value: each.turned() for value, each in by.items()}
                for column, by in self.by.items()
            },
        )

    def headline(self) -> str:
        """Return both pass rates, and whether their difference is significant."""
        return _headline([self])

    def remarks(self) -> Sequence[str]:
        """Return the caveats."""
        return self.cautions

    def to_frame(self) -> pl.DataFrame:
        """Return a row per slice.

        Returns:
            data (null where all are of one dataset), first, second, slice ("overall", or the column
            of SLICES), value, the columns of a difference, and those of the difference at equal
            length (equal_length_rate and so on; null if it is unknown).
        """
        known = {"data": self.data, "first": self.first, "second": self.second}
        rows = [
            (known | {"slice": column, "value": value}, each)
            for column, by in {"overall": {"overall": self.overall}, **self.by}.items()
            for value, each in by.items()
        ]
        return record_frame(_COLUMNS, rows, ModelDifference)


@dataclass(frozen=True, slots=True, repr=False)
class Comparisons(Result):
    """Comparisons of every two of several models.

    Attributes:
        comparisons: One per two models and dataset; never empty.
    """

    comparisons: tuple[Comparison, ...]

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __getitem__(self, number: int) -> Comparison:
        return self.comparisons[number]

    def by_data(self) -> "dict[str | None, Comparisons]":
        """Return dataset → the comparisons on it; None stands for the only dataset."""
        return {
            data: Comparisons(tuple(each for each in self if each.data == data))
            for data in dict.fromkeys(each.data for each in self)
        }

    def headline(self) -> str:
        """Return the models from best to worst, and how many differences are significant.

        Over several datasets, the pass rates are means with equal weights.
        """
        several = self.by_data()
        if len(several) > 1:
            return f"{_mean([*several.values()])}; {_clear(self.comparisons)}."
        return _headline(self.comparisons)

    def remarks(self) -> list[str]:
        """Return the ranking on each of several datasets, and the caveats."""
        several = self.by_data()
        if len(several) == 1:
            return list(dict.fromkeys(caution for each in self for caution in each.cautions))
        return [
            f"{data}: {line}"
            for data, comparisons in several.items()
            for line in (comparisons.headline(), *comparisons.remarks())
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return a row per comparison and slice (`Comparison.to_frame`)."""
        return pl.concat([each.to_frame() for each in self])


def _clear(comparisons: Sequence[Comparison]) -> str:
    verdicts = [each.overall.verdict for each in comparisons]
    decided = sum(each.is_clear for each in comparisons)
    is_or_are = "is" if decided < 2 else "are"  # noqa: PLR2004 - one or more
    if "untested" in verdicts:
        tested = len(verdicts) - verdicts.count("untested")
        among = (
            f"{decided or 'none'} of {counted(tested, 'tested difference')} {is_or_are} "
            "significant, and "
        )
        return f"{among if tested else ''}differences across protocols are not tested"
    if len(comparisons) > 1:
        return f"{decided or 'none'} of {len(comparisons)} differences {is_or_are} significant"
    return f"the difference is {'' if decided else 'not '}significant"


def _rates(comparisons: Sequence[Comparison]) -> dict[str, float] | None:
    """Return model → pass rate, or None if not all models share the same tests."""
    if len(comparisons) > 1 and any(e.only_in_first or e.only_in_second for e in comparisons):
        return None
    return {label: rate for e in comparisons for label, rate in zip(e.labels, e.rates, strict=True)}


def _mean(datasets: Sequence[Comparisons]) -> str:
    """Return mean pass rates, with equal weights, of the models that are on all datasets."""
    n = len(datasets)
    maybe_rates = [_rates(comparisons.comparisons) for comparisons in datasets]
    rates = [of_dataset for of_dataset in maybe_rates if of_dataset is not None]
    if len(rates) < n:
        return f"The mean over the {n} datasets is undefined: not all models share the same tests"
    undefined = f"The mean over the {n} datasets is undefined: no model was scored on all of them"
    return mean_ranking(rates) or undefined


def _headline(comparisons: Sequence[Comparison]) -> str:
    """Return a ranking if all models share the same tests, and the significant differences."""
    models = list(dict.fromkeys(label for each in comparisons for label in each.labels))
    clear, rates = _clear(comparisons), _rates(comparisons)
    if rates is None:
        return f"{len(models)} models, compared pairwise on the tests they share: {clear}."
    names = dict(zip(models, short_names(models), strict=True))
    clear_ones = [each.better_first() for each in comparisons if each.is_clear]
    better = {(names[each.first], names[each.second]) for each in clear_ones}
    tests, splits = comparisons[0].overall.n, comparisons[0].splits
    named = {names[model]: rate for model, rate in rates.items()}
    of = f" ({describe_splits(splits)})" if splits else ""
    over = over_clusters(comparisons[0].overall, comparisons[0].cluster)
    return f"{ranking(named, better)} of {tests:,} shared tests{of}{over}; {clear}."


def mean_ranking(datasets: Sequence[Mapping[str, float | None]]) -> str | None:
    """Return models from best to worst by their mean over datasets; None if no model is on all."""
    means = {model: rate for model, rate in mean_over(datasets).items() if rate is not None}
    if not means:
        return None
    named = dict(zip(short_names([*means]), means.values(), strict=True))
    return f"Mean over {len(datasets)} datasets, {EACH_ONCE}: {ranking(named, ())}"


def ranking(rates: Mapping[str, float], better: Container[tuple[str, str]]) -> str:
    """Return models from best to worst, as in "x 60.0 % > y 50.0 %, z 48.0 %".

    The sign means that each model before it is significantly better than each after it: `better`
    has (x, y) for each x that is significantly better than y.
    """
    order = sorted(rates, key=lambda name: rates[name], reverse=True)
    text = ""
    for at, name in enumerate(order):
        clear = all((high, low) in better for high in order[:at] for low in order[at:])
        text += f"{' >' if clear else ','} " if at else ""
        text += f"{name} {percent(rates[name])} %"
    return text
