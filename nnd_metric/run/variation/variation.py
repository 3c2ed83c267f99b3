"""The effects of choices on the verdicts of one model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl

from nnd.metric.numbers import Flips, Result, percent, short_names
from nnd.metric.run.evaluation import Evaluation
from nnd.schemas import (
    UNSTORED,
    Count,
    Name,
    Record,
    Share,
    frame_schema,
    parquet_bytes,
    record_frame,
    write_folder,
)

VARIATION = "variation.json"
LIKELIHOODS = "choices.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Default(Record):
    """The default, from which every choice differs in one dimension.

    Attributes:
        choices: Dimension → the default choice.
        n: Tests.
        pass_rate: Share of the tests passed, or None without tests.
        interval: 95 % interval of the pass rate over contexts, or None with fewer than two.
        signature: Everything that decides the numbers, in one line.
        scored: The result of the model.
    """

    choices: Mapping[str, Name]
    n: Count
    pass_rate: Share | None
    interval: tuple[Share, Share] | None
    signature: Name
    scored: Annotated[Evaluation, UNSTORED]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant(Flips):
    """The pairs under one choice, the first side, against the default.

    Attributes:
        dimension: The dimension.
        choice: The choice.
        rate_interval: 95 % interval of the first rate over contexts, or None with fewer than two.
        signature: Everything that decides the numbers, in one line.
        scored: The result of the model.
    """

    dimension: Name
    choice: Name
    rate_interval: tuple[Share, Share] | None
    signature: Name
    scored: Annotated[Evaluation, UNSTORED]


@dataclass(frozen=True, slots=True)
class LeftOut(Record):
    """A choice that could not be scored.

    Attributes:
        dimension: The dimension.
        choice: The choice; None stands for the whole dimension.
        reason: Why it was left out.
    """

    dimension: Name
    choice: str | None
    reason: Name


@dataclass(frozen=True, slots=True, repr=False)
class Variation(Result):
    """One model on the same pairs under several choices.

    Attributes:
        model: Name of the model.
        data: Name of the data.
        default: The result of the default.
        choices: The result of each other choice; p is adjusted over them.
        left_out: Choices that could not be scored.
    """

    model: Name
    data: Name
    default: Default
    choices: tuple[Variant, ...]
    left_out: tuple[LeftOut, ...]

    def headline(self) -> str:
        """Return the default's pass rate, and the choice that changes the most verdicts."""
        default, (name,) = self.default, short_names([self.model])
        if default.pass_rate is None:
            return f"There are no tests in {self.data}."
        passes = (
            f"{name} passes {percent(default.pass_rate)} % of {default.n:,} tests on {self.data}"
        )
        if not self.choices:
            return f"{passes}; there was no other choice to score."
        most = max(self.choices, key=lambda each: each.flipped or 0)
        if not most.flipped:
            return f"{passes}; none of {len(self.choices)} choices changes a verdict."
        return (
            f"{passes}; of {len(self.choices)} choices, {most.dimension} {most.choice} changes "
            f"the most verdicts ({percent(most.flipped)} %)."
        )

    def remarks(self) -> list[str]:
        """Return the default choices, and the choices that were left out with the reasons."""
        chosen = ", ".join(f"{name} {choice}" for name, choice in self.default.choices.items())
        left_out = [
            f"{each.dimension}{f' {each.choice}' if each.choice else ''} is left out: {each.reason}"
            for each in self.left_out
        ]
        return [*([f"The default is {chosen}."] if chosen else []), *left_out]

    def details(self) -> list[str]:
        """Return the signature of each choice."""
        return [self.default.signature, *(each.signature for each in self.choices)]

    def to_frame(self) -> pl.DataFrame:
        """Return a row per choice: its keys, the difference from the default, and its flips."""
        return record_frame(
            [*frame_schema(Variant)], [({}, each) for each in self.choices], Variant
        )

    def write(self, folder: str | Path) -> None:
        """Write variation.json and choices.parquet, or replace older ones.

        Raises:
            NNDError: If the folder holds anything that nnd did not write, or cannot be written.
        """
        keyed = [("default", "default", self.default.scored)]
        keyed += [(each.dimension, each.choice, each.scored) for each in self.choices]
        rows = pl.concat(
            each.scored.select(
                pl.lit(dimension).alias("dimension"), pl.lit(choice).alias("choice"), pl.all()
            )
            for dimension, choice, each in keyed
        )
        files = {LIKELIHOODS: parquet_bytes(rows)}
        write_folder(Path(folder), self.to_dict(), document=VARIATION, files=files)
