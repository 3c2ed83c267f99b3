"""The result of a training: the model compared before and after."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl

from nnd.metric.numbers import Comparisons, Result
from nnd.metric.train.recipe import Recipe
from nnd.schemas import SPARSE, UNSTORED, Amount, Count, FlatKeys, Name, Natural, Record, counted

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class TrainingCounts(Record):
    """How much data is trained on and held out.

    Attributes:
        pairs: Pairs or references to train on.
        contexts: Their contexts.
        held_out_pairs: Pairs of the held-out contexts; 0 for references.
        held_out_contexts: The held-out contexts; 0 for references.
        examples: Distinct pairs or references to train on, with tokens to score.
        truncated: Those of them whose context is cut to fit the window.
        negative_tokens: For unlikelihood: tokens of the worse candidates that count.
        by_set: Set of a suite → its pairs to train on, if sets are trained on; a pair may be in
            several.
    """

    pairs: Count
    contexts: Natural
    held_out_pairs: Count
    held_out_contexts: Count
    examples: Natural
    truncated: Count
    negative_tokens: Annotated[Count | None, SPARSE] = None
    by_set: Annotated[Mapping[str, Natural], SPARSE] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoggedLoss(Record):
    """The loss and its terms, means since the previous entry.

    Attributes:
        step: Optimiser steps done.
        loss: Mean over steps of what is minimised.
        mle: Mean over tokens of the better candidates of -log P.
        unlikelihood: Mean over negative tokens of -log(1 - P).
        margin: Mean over pairs of what is missing to the margin.
    """

    step: Natural
    loss: float
    mle: float
    unlikelihood: Annotated[float | None, SPARSE] = None
    margin: Annotated[float | None, SPARSE] = None


@dataclass(frozen=True, slots=True)
class TrainingFacts(Record):
    """How a model was trained on pairs, and its results before and after.

    Attributes:
        signature: Everything that the trained model depends on, in one line.
        recipe: What was asked for.
        device: Where it was trained.
        steps: Optimiser steps done.
        seconds: Duration of the last run; an earlier interrupted run is not counted.
        counts: How much data was trained on and held out.
        losses: The logged loss during training.
    """

    signature: Name
    recipe: Annotated[Recipe, FlatKeys()]
    device: Name
    steps: Natural
    seconds: Amount
    counts: TrainingCounts
    losses: tuple[LoggedLoss, ...]


@dataclass(frozen=True, slots=True, repr=False)
class TrainedModel(Result):
    """A model after training, compared with itself before.

    Attributes:
        out: The folder with the model, its tokenizer, the runs `before` and `after`, the history of
            the pass rate while it trained, and training.json.
        facts: The description of the training.
        cautions: Caveats, a sentence each.
        comparisons: The model before against the model after, on each dataset.
    """

    out: Annotated[Path, UNSTORED]
    facts: Annotated[TrainingFacts, FlatKeys()]
    cautions: tuple[Name, ...]
    comparisons: Annotated[Comparisons, FlatKeys()]

    def headline(self) -> str:
        """Return the pass rates before and after, and whether their difference is significant."""
        return self.comparisons.headline()

    def table(self) -> "Table | None":
        """Return the difference over all tests, a row per dataset."""
        return self.comparisons.table()

    def remarks(self) -> list[str]:
        """Return the training data, and the caveats."""
        counts, is_cut = self.facts.counts, self.facts.recipe.split is not None
        sets = ", ".join(f"{name} {n:,}" for name, n in counts.by_set.items())
        alone = "reference" if self.facts.recipe.objective.loss == "mle" else "example"
        kind = f"distinct {'pair' if is_cut else alone}"
        held_out = f"{counted(counts.held_out_contexts, 'context')} held out"
        trained = (
            f"Trained for {counted(self.facts.steps, 'step')} on "
            f"{counted(counts.examples, kind)} in "
            f"{counted(counts.contexts, 'context')}{f' (pairs: {sets})' if sets else ''}; tested "
            f"on {held_out if is_cut else 'other data'}."
        )
        return [trained, *self.comparisons.remarks(), *self.cautions]

    def details(self) -> "list[Table | str]":
        """Return the differences by slice, and the signature of the training."""
        return [*self.comparisons.details(), self.facts.signature]

    def drawing(self) -> Any:  # noqa: ANN401 - as `Result.drawing`
        """Return the differences by category, or None for several datasets."""
        return self.comparisons.drawing()

    def to_frame(self) -> pl.DataFrame:
        """Return a row per dataset and slice (`Comparison.to_frame`)."""
        return self.comparisons.to_frame()
