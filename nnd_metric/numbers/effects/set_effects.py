"""The results of models on the sets of a suite."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.data import SuiteSet
from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.effects.effects import Effect, SetEffect, find_effects
from nnd.schemas import Shown

if TYPE_CHECKING:
    from rich.table import Table

_SCHEMA = {
    "model": pl.String,
    "set": pl.String,
    "kind": pl.String,
    "op": pl.String,
    "error_category": pl.String,
    "n": pl.Int64,
    "parents": pl.Int64,
    "pass_rate": pl.Float64,
    "parents_pass_rate": pl.Float64,
    "rest_pass_rate": pl.Float64,
    "delta": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "b": pl.Int64,
    "c": pl.Int64,
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "verdict": pl.String,
}


@dataclass(frozen=True, slots=True, repr=False)
class Effects(Shown):
    """The effects of the sets of a suite on the pass rates of models.

    Attributes:
        by_model: Model → effect of each set, in the order of the suite.
    """

    by_model: Mapping[str, tuple[SetEffect, ...]]

    def headline(self) -> str:
        """Return the sets that significantly lower the pass rate of each model."""
        names = short_names([*self.by_model])
        lowered = [
            f"{name} on {', '.join(worse)}"
            for name, effects in zip(names, self.by_model.values(), strict=True)
            if (worse := [e.suite_set.name for e in effects if e.overall.verdict == "worse"])
        ]
        if not lowered:
            return "No set of the suite lowers a pass rate significantly."
        return f"Significantly lower pass rates: {'; '.join(lowered)}."

    def table(self) -> "Table":
        """Return a row for each set and model."""
        from nnd.metric.show import effects_table  # noqa: PLC0415 - rich is for people only

        return effects_table(self.to_dict())

    def remarks(self) -> list[str]:
        """Return the error categories with lower pass rates."""
        names = short_names([*self.by_model])
        return [
            f"{name}, {each.suite_set.name}: lower on {', '.join(suffering)}."
            for name, effects in zip(names, self.by_model.values(), strict=True)
            for each in effects
            if (suffering := _suffering(each))
        ]

    def details(self) -> "list[Table | str]":
        """Return the effects on error categories, with discordant counts."""
        from nnd.metric.show import category_effects_table  # noqa: PLC0415

        return [category_effects_table(self.to_dict())]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each model, set and error category; null stands for all of them."""
        return pl.DataFrame(list(self._rows()), _SCHEMA, orient="row")

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return plain Python values: model → its `result["suite"]`."""
        return {
            model: [effect.to_dict() for effect in effects]
            for model, effects in self.by_model.items()
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        for model, effects in self.by_model.items():
            for each in effects:
                of = each.suite_set
                key = {"model": model, "set": of.name, "kind": of.kind, "op": of.operation}
                yield {**key, "error_category": None, **_cells(each.overall)}
                for category, effect in each.by_error_category.items():
                    yield {**key, "error_category": category, **_cells(effect)}


def all_effects(
    sets: Sequence[SuiteSet],
    parents: Iterable[tuple[str, pl.DataFrame]],
    children: pl.DataFrame,
) -> Effects | None:
    """Return the effects of the sets of a suite on each model; None without sets.

    Args:
        sets: The sets of the suite.
        parents: Each model, with the human pairs as it scored them: the columns of PARENTS.
        children: The pairs of the sets as all models scored them: columns of `results.STORED_SETS`.
    """
    if not sets:
        return None
    return Effects(
        {
            model: find_effects(sets, rows, children.filter(pl.col("model") == model))
            for model, rows in parents
        }
    )


def _suffering(effect: SetEffect) -> list[str]:
    """Return the categories that are harder than with the parents; alone, one says nothing more."""
    by = effect.by_error_category
    return [value for value, each in by.items() if each.verdict == "worse"] if len(by) > 1 else []


def _cells(effect: Effect) -> dict[str, Any]:
    low, high = effect.interval or (None, None)
    cells = {**effect.to_dict(), "low": low, "high": high}
    return {name: cells[name] for name in _SCHEMA if name in cells}
