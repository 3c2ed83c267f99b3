"""Results of `compare`: one comparison of two models, and several comparisons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.data import describe_splits
from nnd.metric.numbers.comparison.differences import Differences
from nnd.metric.numbers.comparison.ranking import mean_ranking, ranking
from nnd.metric.numbers.comparison.sentences import findings
from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.pictured import Pictured
from nnd.schemas import counted

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.show import Drawing

_SCHEMA = {
    "data": pl.String,
    "a": pl.String,
    "b": pl.String,
    "slice": pl.String,
    "value": pl.String,
    "n": pl.Int64,
    "pass_rate_a": pl.Float64,
    "pass_rate_b": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "only_a": pl.Int64,
    "only_b": pl.Int64,
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "verdict": pl.String,
}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Pictured):
    """Two models, a and b, on the pairs that both were scored on.

    Attributes:
        a: Label of the first model.
        b: Label of the second.
        signature_a: Signature of the first, or None.
        signature_b: Signature of the second, or None.
        n_pairs: Pairs that both were scored on.
        only_in_a: Pairs that only the first was scored on, which are left out.
        only_in_b: Pairs that only the second was scored on, which are left out.
        differences: Differences of their pass rates.
        cautions: Caveats, a sentence each.
        sentences: The findings as sentences, including the cautions.
        data: The dataset, if there are comparisons on several; else None.
        splits: The splits of the tests, if the data has several; else empty.
    """

    a: str
    b: str
    signature_a: str | None
    signature_b: str | None
    n_pairs: int
    only_in_a: int
    only_in_b: int
    differences: Differences
    cautions: tuple[str, ...]
    sentences: tuple[str, ...]
    data: str | None = None
    splits: tuple[str, ...] = ()

    def headline(self) -> str:
        """Return both pass rates, and whether their difference is significant."""
        return _headline([self])

    def table(self) -> "Table":
        """Return the difference over all tests, with the verdict."""
        from nnd.metric.show import verdict_table  # noqa: PLC0415 - rich is for people only

        return verdict_table([self.to_dict()])

    def remarks(self) -> Sequence[str]:
        """Return the caveats."""
        return self.cautions

    def details(self) -> "list[Table | str]":
        """Return pass rates and differences by slice, and both signatures."""
        return Comparisons((self,)).details()

    def drawing(self) -> "Drawing":
        """Return the differences, overall and by category, the largest lead first."""
        from nnd.metric.show import (  # noqa: PLC0415
            Side,
            draw_comparison,
            style,
        )

        several = [column for column, by in self.differences.by.items() if len(by) > 1]
        a, b = (Side(at, name) for at, name in enumerate(short_names([self.a, self.b])))
        with style():
            return draw_comparison(a, b, several[0] if several else "", self.to_dict())

    def to_frame(self) -> pl.DataFrame:
        """Return a row per slice.

        Returns:
            data (null where all are of one dataset), a, b, slice ("overall", or the column of
            SLICES), value, n, pass_rate_a, pass_rate_b, difference, low and high (its 95 %
            interval), only_a, only_b, p, p_holm, verdict.
        """
        rows = [("overall", "overall", self.differences.overall)]
        for column, by in self.differences.by.items():
            rows += [(column, value, each) for value, each in by.items()]
        return pl.DataFrame(
            [
                (
                    *(self.data, self.a, self.b, column, value, each.n),
                    *(each.pass_rate_a, each.pass_rate_b, each.difference),
                    *(each.interval or (None, None)),
                    *(each.only_a, each.only_b, each.p, each.p_holm, each.verdict),
                )
                for column, value, each in rows
            ],
            _SCHEMA,
            orient="row",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "data": self.data,
            "a": self.a,
            "b": self.b,
            "signature_a": self.signature_a,
            "signature_b": self.signature_b,
            "n_pairs": self.n_pairs,
            "only_in_a": self.only_in_a,
            "only_in_b": self.only_in_b,
            "splits": list(self.splits),
            **self.differences.to_dict(),
            "sentences": list(self.sentences),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Comparisons(Pictured):
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

    def table(self) -> "Table":
        """Return the differences over all tests: a row per two models, with the verdict."""
        from nnd.metric.show import verdict_table  # noqa: PLC0415 - rich is for people only

        return verdict_table([each.to_dict() for each in self])

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

    def details(self) -> "list[Table | str]":
        """Return pass rates and each comparison by slice, and the signatures."""
        from nnd.metric.show import (  # noqa: PLC0415 - rich is for people only
            ahead_table,
            rates_table,
        )

        shown: list[Table | str] = []
        for data, comparisons in self.by_data().items():
            shown += [] if data is None else [f"on {data}"]
            rates = rates_table([each.to_dict() for each in comparisons])
            shown += [] if rates is None else [rates]
            for each in sorted(comparisons, key=_two_rates, reverse=True):
                shown.append(ahead_table(each.to_dict()))
                if each.differences.overall.verdict == "undecided":
                    shown.append(next(findings(each.a, each.b, each.differences)))
        signatures = [text for each in self for text in (each.signature_a, each.signature_b)]
        shown += dict.fromkeys(text for text in signatures if text)
        if len(self) > 1:
            shown.append(
                f"p (Holm) is adjusted within each comparison, not over all {len(self)} comparisons"
            )
        return shown

    def drawing(self) -> "Drawing | None":
        """Return the differences by category; for several comparisons, those over all tests.

        For several datasets it is None; `by_data` has a figure for each.
        """
        from nnd.metric.show import (  # noqa: PLC0415
            Side,
            draw_comparisons,
            style,
        )

        if len(self) == 1:
            return self[0].drawing()
        if len(self.by_data()) > 1:
            return None
        models = list(dict.fromkeys(label for each in self for label in (each.a, each.b)))
        names = short_names(models)
        sides = {model: Side(at, names[at]) for at, model in enumerate(models)}
        with style():
            return draw_comparisons(sides, [each.to_dict() for each in self])

    def to_frame(self) -> pl.DataFrame:
        """Return a row per comparison and slice (`Comparison.to_frame`)."""
        return pl.concat([each.to_frame() for each in self])

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"comparisons": [each.to_dict() for each in self]}


def _two_rates(comparison: Comparison) -> tuple[float, float]:
    """Return both pass rates, the higher one first."""
    overall = comparison.differences.overall
    low, high = sorted((overall.pass_rate_a or 0.0, overall.pass_rate_b or 0.0))
    return high, low


def _clear(comparisons: Sequence[Comparison]) -> str:
    """Return the number of significant differences as a phrase."""
    verdicts = [each.differences.overall.verdict for each in comparisons]
    decided = sum(verdict in ("a", "b") for verdict in verdicts)
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
    if len(comparisons) > 1 and any(each.only_in_a or each.only_in_b for each in comparisons):
        return None
    rates: dict[str, float] = {}
    for each in comparisons:
        overall = each.differences.overall
        rates |= {each.a: overall.pass_rate_a or 0.0, each.b: overall.pass_rate_b or 0.0}
    return rates


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
    models = list(dict.fromkeys(label for each in comparisons for label in (each.a, each.b)))
    clear, rates = _clear(comparisons), _rates(comparisons)
    if rates is None:
        return f"{len(models)} models, compared pairwise on the tests they share: {clear}."
    names = dict(zip(models, short_names(models), strict=True))
    better = set()
    for each in comparisons:
        a, b, verdict = names[each.a], names[each.b], each.differences.overall.verdict
        if verdict in ("a", "b"):
            better.add((a, b) if verdict == "a" else (b, a))
    tests, splits = comparisons[0].differences.overall.n, comparisons[0].splits
    named = {names[model]: rate for model, rate in rates.items()}
    of = f" ({describe_splits(splits)})" if splits else ""
    return f"{ranking(named, better)} of {tests:,} shared tests{of}; {clear}."
