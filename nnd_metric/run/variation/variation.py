"""The effects of choices on the verdicts of one model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.numbers import Flips, Pictured, percent, short_names
from nnd.metric.run.evaluation import Evaluation
from nnd.metric.run.model_result import ModelResult
from nnd.schemas import parquet_bytes, write_folder

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.show import Drawing

VARIATION = "variation.json"
LIKELIHOODS = "choices.parquet"

_SCHEMA = {
    "dimension": pl.String,
    "choice": pl.String,
    "n": pl.Int64,
    "pass_rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "flipped": pl.Float64,
    "flipped_low": pl.Float64,
    "flipped_high": pl.Float64,
    "gained": pl.Int64,
    "lost": pl.Int64,
}


@dataclass(frozen=True, slots=True)
class Variant:
    """The pairs under one choice.

    Attributes:
        dimension: The dimension.
        choice: The choice.
        scored: The result of the model.
        flips: The differences of its verdicts from the default's.
    """

    dimension: str
    choice: str
    scored: Evaluation
    flips: Flips

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        key = {"dimension": self.dimension, "choice": self.choice}
        return key | _rate(self.scored) | self.flips.to_dict()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A choice that could not be scored.

    Attributes:
        dimension: The dimension.
        choice: The choice; None stands for the whole dimension.
        reason: Why it was left out.
    """

    dimension: str
    choice: str | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"dimension": self.dimension, "choice": self.choice, "reason": self.reason}


@dataclass(frozen=True, slots=True, repr=False)
class Variation(Pictured):
    """One model on the same pairs under several choices.

    Attributes:
        default: The result of the default.
        defaults: Dimension → the default choice.
        variants: The result of each other choice.
        left_out: Choices that could not be scored.
    """

    default: Evaluation
    defaults: Mapping[str, str]
    variants: tuple[Variant, ...]
    left_out: tuple[LeftOut, ...]

    def headline(self) -> str:
        """Return the default's pass rate, and the choice that changes the most verdicts."""
        result, data = _result(self.default), self.default.data
        (name,) = short_names([result.model])
        rate = result.rates.overall
        if rate.pass_rate is None:
            return f"There are no tests in {data}."
        passes = f"{name} passes {percent(rate.pass_rate)} % of {rate.n:,} tests on {data}"
        if not self.variants:
            return f"{passes}; there was no other choice to score."
        most = max(self.variants, key=lambda each: each.flips.flipped or 0)
        if not most.flips.flipped:
            return f"{passes}; none of {len(self.variants)} choices changes a verdict."
        return (
            f"{passes}; of {len(self.variants)} choices, {most.dimension} {most.choice} changes "
            f"the most verdicts ({percent(most.flips.flipped)} %)."
        )

    def table(self) -> "Table":
        """Return a row per choice: pass rate, difference from the default, verdicts that flip."""
        from nnd.metric.show import variation_table  # noqa: PLC0415 - rich is for people only

        return variation_table(self.to_dict())

    def remarks(self) -> list[str]:
        """Return the default choices, and the choices that were left out with the reasons."""
        chosen = ", ".join(f"{name} {choice}" for name, choice in self.defaults.items())
        left_out = [
            f"{each.dimension}{f' {each.choice}' if each.choice else ''} is left out: {each.reason}"
            for each in self.left_out
        ]
        return [*([f"The default is {chosen}."] if chosen else []), *left_out]

    def details(self) -> list[str]:
        """Return the signature of each choice."""
        scored = [self.default, *(each.scored for each in self.variants)]
        return [_result(each).signature for each in scored]

    def drawing(self) -> "Drawing | None":
        """Return the share of verdicts that flip under each choice."""
        from nnd.metric.show import draw_flips, style  # noqa: PLC0415 - matplotlib is slow

        with style():
            return draw_flips([each.to_dict() for each in self.variants])

    def to_frame(self) -> pl.DataFrame:
        """Return a row per choice, the default first, with 95 % intervals (low, high)."""
        default = {"dimension": "default", "choice": "default", **_rate(self.default)}
        rows = [_cells(each) for each in (default, *(each.to_dict() for each in self.variants))]
        return pl.DataFrame(rows, _SCHEMA, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values (`variation.schema.json`)."""
        return {
            "model": _result(self.default).model,
            "data": self.default.data,
            "default": {"choices": dict(self.defaults), **_rate(self.default)},
            "choices": [each.to_dict() for each in self.variants],
            "left_out": [each.to_dict() for each in self.left_out],
        }

    def write(self, folder: str | Path) -> None:
        """Write variation.json and choices.parquet, or replace older ones.

        Raises:
            NNDError: If the folder holds anything that nnd did not write, or cannot be written.
        """
        keyed = [("default", "default", self.default)]
        keyed += [(each.dimension, each.choice, each.scored) for each in self.variants]
        rows = pl.concat(
            each.scored.select(
                pl.lit(dimension).alias("dimension"), pl.lit(choice).alias("choice"), pl.all()
            )
            for dimension, choice, each in keyed
        )
        files = {LIKELIHOODS: parquet_bytes(rows)}
        write_folder(Path(folder), self.to_dict(), document=VARIATION, files=files)


def _result(evaluation: Evaluation) -> ModelResult:
    (result,) = evaluation.results
    return result


def _rate(evaluation: Evaluation) -> dict[str, Any]:
    result = _result(evaluation)
    rate = result.rates.overall
    return {
        "n": rate.n,
        "pass_rate": rate.pass_rate,
        "interval": None if rate.interval is None else list(rate.interval),
        "signature": result.signature,
    }


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    cells = {name: row.get(name) for name in _SCHEMA}
    for prefix, key in (
        ("", "interval"),
        ("difference_", "difference_interval"),
        ("flipped_", "flipped_interval"),
    ):
        low, high = row.get(key) or (None, None)
        cells |= {f"{prefix}low": low, f"{prefix}high": high}
    return cells
