"""The result of a training: the model compared before and after."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.numbers import Comparisons, Pictured
from nnd.schemas import counted

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.show import Drawing


@dataclass(frozen=True, slots=True, repr=False)
class Trained(Pictured):
    """A model after training, compared with itself before.

    Attributes:
        out: The folder with the model, its tokenizer, the runs `before` and `after`, the history of
            the pass rate while it trained, and training.json.
        facts: The description of the training in training.json (`training.schema.json`).
        comparisons: The model before against the model after, on each dataset.
        cautions: Caveats, a sentence each.
    """

    out: Path
    facts: Mapping[str, Any]
    comparisons: Comparisons
    cautions: tuple[str, ...]

    def headline(self) -> str:
        """Return the pass rates before and after, and whether their difference is significant."""
        return self.comparisons.headline()

    def table(self) -> "Table":
        """Return the difference over all tests, a row per dataset."""
        return self.comparisons.table()

    def remarks(self) -> list[str]:
        """Return the training data, and the caveats."""
        counts = self.facts["counts"]
        trained = (
            f"Trained for {counted(self.facts['steps'], 'step')} on "
            f"{counted(counts['examples'], 'distinct pair')} in "
            f"{counted(counts['contexts'], 'context')}; tested on "
            f"{counted(counts['held_out_contexts'], 'context')} held out."
        )
        return [trained, *self.comparisons.remarks(), *self.cautions]

    def details(self) -> "list[Table | str]":
        """Return the differences by slice, and the signature of the training."""
        return [*self.comparisons.details(), self.facts["signature"]]

    def drawing(self) -> "Drawing | None":
        """Return the differences by category, or None for several datasets."""
        return self.comparisons.drawing()

    def to_frame(self) -> pl.DataFrame:
        """Return a row per dataset and slice (`Comparison.to_frame`)."""
        return self.comparisons.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values (`training.schema.json`)."""
        return {
            **self.facts,
            "cautions": list(self.cautions),
            **self.comparisons.to_dict(),
        }
