"""What was found: two models on the same pairs, and several such comparisons."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.comparison.differences import Differences
from nnd.metric.drawing import Pictured, short_names

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.drawing import Drawing

_SCHEMA = {
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
        signature_a: How the first was scored, or None.
        signature_b: How the second was.
        n_pairs: Pairs that both were scored on.
        only_in_a: Pairs that only the first was scored on; they are left out.
        only_in_b: Pairs that only the second was scored on; they are left out.
        differences: Of their pass rates.
        sentences: What follows, in plain words.
    """

    a: str
    b: str
    signature_a: str | None
    signature_b: str | None
    n_pairs: int
    only_in_a: int
    only_in_b: int
    differences: Differences
    sentences: tuple[str, ...]

    def headline(self) -> str:
        """Return which model is better overall, or that the difference is not significant."""
        return self.sentences[0]

    def table(self) -> "Table":
        """Return the differences: a row per slice."""
        from nnd.metric.tables import comparison_table  # noqa: PLC0415 - rich is for people only

        return comparison_table(self.to_dict())

    def drawing(self) -> "Drawing":
        """Return the differences, overall and by category, the largest lead first."""
        from nnd.metric.drawing import style  # noqa: PLC0415 - matplotlib is for people only
        from nnd.metric.figures import Side, draw_comparison  # noqa: PLC0415

        several = [column for column, by in self.differences.by.items() if len(by) > 1]
        a, b = (Side(at, name) for at, name in enumerate(short_names([self.a, self.b])))
        with style():
            return draw_comparison(a, b, several[0] if several else "", self.to_dict())

    def to_frame(self) -> pl.DataFrame:
        """Return a row per slice.

        Returns:
            a, b, slice ("overall", or the column of SLICES), value, n, pass_rate_a, pass_rate_b,
            difference, low and high (its 95 % interval), only_a, only_b, p, p_holm, verdict.
        """
        rows = [("overall", "overall", self.differences.overall)]
        for column, by in self.differences.by.items():
            rows += [(column, value, each) for value, each in by.items()]
        return pl.DataFrame(
            [
                (
                    *(self.a, self.b, column, value, each.n),
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
            "a": self.a,
            "b": self.b,
            "signature_a": self.signature_a,
            "signature_b": self.signature_b,
            "n_pairs": self.n_pairs,
            "only_in_a": self.only_in_a,
            "only_in_b": self.only_in_b,
            **self.differences.to_dict(),
            "sentences": list(self.sentences),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Comparisons(Pictured):
    """Several models compared, each with each.

    Attributes:
        comparisons: One per two models; there is at least one.
    """

    comparisons: tuple[Comparison, ...]

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __getitem__(self, number: int) -> Comparison:
        return self.comparisons[number]

    def headline(self) -> str:
        """Return the one finding, or how many differences are significant."""
        if len(self) == 1:
            return self[0].headline()
        decided = sum(each.differences.overall.verdict != "undecided" for each in self)
        models = {label for each in self for label in (each.a, each.b)}
        return (
            f"Of the {len(self)} differences between {len(models)} models, {decided} "
            f"{'is' if decided == 1 else 'are'} significant overall."
        )

    def table(self) -> "Table":
        """Return the differences by slice, or, of several comparisons, those over all tests."""
        from nnd.metric.tables import comparisons_table  # noqa: PLC0415 - rich is for people only

        if len(self) == 1:
            return self[0].table()
        return comparisons_table([each.to_dict() for each in self])

    def drawing(self) -> "Drawing":
        """Return the differences by category, or, of several comparisons, those over all tests."""
        from nnd.metric.drawing import style  # noqa: PLC0415 - matplotlib is for people only
        from nnd.metric.figures import Side, draw_comparisons  # noqa: PLC0415

        if len(self) == 1:
            return self[0].drawing()
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
