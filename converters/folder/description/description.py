"""A description as a table of measures of the better and the worse candidates."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from nnd.cards import length_warning
from nnd.schemas import Printable, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

Side: TypeAlias = Literal["high", "low"]

SIDES: tuple[Side, Side] = ("high", "low")

MOST_PASSED = 0.6
"""Pass rate above which a surface metric is worth a warning."""

_TOKENS = (
    "Tokens are sacrebleu's 13a, in lower case; each character of a script without spaces is one."
)
_NO_ROUGE = "No ROUGE: rouge-score keeps only the letters a to z and digits of a text."

_TITLES = {
    "candidates": "candidates",
    "mean_characters": "characters, mean",
    "mean_tokens": "tokens, mean",
    "tokens": "tokens",
    "types": "types",
    "singletons": "types that occur once",
    "bigram_types": "bigram types",
    "distinct_1": "distinct-1 (TTR)",
    "distinct_2": "distinct-2",
    "distinct_3": "distinct-3",
    "msttr": "MSTTR",
    "entropy": "entropy, bits",
    "conditional_entropy": "entropy given the token before, bits",
    "yules_i": "Yule's I",
    "with_references": "candidates with references",
    "rouge_1": "ROUGE-1 F1",
    "rouge_2": "ROUGE-2 F1",
    "rouge_l": "ROUGE-L F1",
    "bleu": "BLEU",
    "chrf": "chrF2",
}
_DECIMALS = {"mean_characters": 1, "mean_tokens": 1, "bleu": 1, "chrf": 1, "entropy": 2}
_PREFERS = {
    "shorter": "picking the shorter candidate",
    "longer": "picking the longer candidate",
    "copied": "picking the candidate that copies more of its context",
}


@dataclass(frozen=True, slots=True, repr=False)
class Description(Printable):
    """Measures of the texts of some pairs.

    Attributes:
        name: Name of the data.
        tests: Number of distinct (high, low).
        sides: high and low → measure → number, or None if it is not defined.
        surface: Preference of a surface metric (shorter, longer, copied) → its pass rate; undecided
            tests count half.
        window: Tokens of a window of MSTTR.
    """

    name: str
    tests: int
    sides: Mapping[Side, Mapping[str, Any]]
    surface: Mapping[str, float | None]
    window: int

    def headline(self) -> str:
        """Return the numbers of candidates and tests."""
        high, low = (f"{self.sides[side]['candidates']:,}" for side in SIDES)
        tests = counted(self.tests, "test")
        return f"{self.name} has {high} better and {low} worse candidates in {tests}."

    def table(self) -> "Table":
        """Return the measures, high and low side by side."""
        return text_table(("", "high", "low"), self.rows(), right=("high", "low"))

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each measure: its title, high and low."""
        titles = dict(_TITLES, msttr=f"MSTTR-{self.window}")
        rows = [
            (title, *(_cell(name, self.sides[side].get(name)) for side in SIDES))
            for name, title in titles.items()
            if name in self.sides["high"]
        ]
        recalls = [self.sides[side].get("local_recall", {}) for side in SIDES]
        for k in recalls[0].keys() | recalls[1].keys():
            cells = [_cell("local_recall", recall.get(k)) for recall in recalls]
            rows.append((f"recall of words in {counted(k, 'reference')}", *cells))
        return rows

    def remarks(self) -> list[str]:
        """Return what a surface metric could use, and how the numbers were computed."""
        return [*self.warnings(), _TOKENS, *self.without_rouge()]

    def without_rouge(self) -> list[str]:
        """Return why ROUGE is missing, if there are references."""
        has_none = any(side.get("rouge_1", 0.0) is None for side in self.sides.values())
        return [_NO_ROUGE] if has_none else []

    def warnings(self) -> Iterator[str]:
        """Yield differences between the sides that a surface metric could use to pass."""
        yield from length_warning(*(each["mean_characters"] for each in self.sides.values()))
        for rule, rate in self.surface.items():
            if rate is not None and rate >= MOST_PASSED:
                yield (
                    f"A surface metric would do: {_PREFERS[rule]} passes {100 * rate:.1f} % of the "
                    "tests (undecided ones count half)."
                )

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each number: measure, high, low."""
        names = [name for name in _TITLES if name in self.sides["high"]]
        rows = [[name, *(self.sides[side].get(name) for side in SIDES)] for name in names]
        schema = {"measure": pl.String, "high": pl.Float64, "low": pl.Float64}
        return pl.DataFrame(rows, schema, orient="row", strict=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "name": self.name,
            "tests": self.tests,
            "window": self.window,
            **{side: dict(numbers) for side, numbers in self.sides.items()},
            "surface": dict(self.surface),
            "warnings": list(self.warnings()),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Descriptions(Printable):
    """Measures of the texts of several slices of pairs.

    Attributes:
        name: Name of the data.
        slices: Name of a slice → its description; a pair may be in several.
    """

    name: str
    slices: Mapping[str, Description]

    def headline(self) -> str:
        """Return the number of slices."""
        return f"The texts of {counted(len(self.slices), 'slice')} of {self.name}."

    def table(self) -> "Table":
        """Return the measures of every slice, high and low side by side."""
        table = text_table(("slice", "", "high", "low"), right=("high", "low"))
        for name, description in self.slices.items():
            table.add_row(name, "tests", f"{description.tests:,}", "")
            for cells in description.rows():
                table.add_row("", *cells)
            table.add_section()
        return table

    def remarks(self) -> list[str]:
        """Return what a surface metric could use in a slice, and how the numbers were computed."""
        warned = [f"{name}: {line}" for name, of in self.slices.items() for line in of.warnings()]
        missing = (line for of in self.slices.values() for line in of.without_rouge())
        return [*warned, _TOKENS, *dict.fromkeys(missing)]

    def to_frame(self) -> pl.DataFrame:
        """Return the rows of each slice, with its name in the first column."""
        return pl.concat(
            of.to_frame().select(pl.lit(name).alias("slice"), pl.all())
            for name, of in self.slices.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        slices = {name: of.to_dict() for name, of in self.slices.items()}
        return {"name": self.name, "slices": slices}


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{_DECIMALS.get(name, 3)}f}"
