"""How well made pairs represent human pairs: the result of `compare --by origin`.

The made pairs (negatives of a suite) of an operation are compared with the human and the
constructed pairs of the error categories that the operation imitates. An operation is valid to the
degree that models pass its pairs as often as the human ones, that models are ranked alike, and that
surface features do not give away the wrong text.

The difference of two pass rates is unpaired, with its interval over contexts
(`unpaired_differences`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import polars as pl

from nnd.metric.numbers.rates.pass_rates import Rate
from nnd.metric.numbers.shown_result import Result
from nnd.metric.numbers.statistics.correlations import mean_defined
from nnd.metric.numbers.statistics.difference import Difference
from nnd.schemas import (
    SPARSE,
    UNSTORED,
    VALIDITY,
    Correlation,
    Keys,
    Limit,
    Name,
    Record,
    cells_of,
    counted,
    frame_schema,
    own_files,
    replace_own,
    write_document,
)

People: TypeAlias = Literal["human", "constructed"]
"""Origins of human pairs: texts of systems, or errors that people made on purpose."""

_SURFACE = ("shorter_wins", "longer_wins", "copy_wins")
_GIVEN_AWAY = 0.6
"""Share of made pairs that a baseline must pass to be mentioned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanPairs(Difference):
    """The made pairs of an operation, the first side, against human pairs of one origin.

    Attributes:
        pairs: Pass rate of the human pairs.
    """

    pairs: Rate


@dataclass(frozen=True, slots=True)
class ModelValidity(Record):
    """One model on the made pairs of an operation, and on human pairs.

    Attributes:
        made: Pass rate of the made pairs, with those of baselines.
        human: Comparison with the human pairs, if there are any.
        constructed: Comparison with the constructed pairs, if there are any.
    """

    made: Rate
    human: Annotated[HumanPairs | None, SPARSE] = None
    constructed: Annotated[HumanPairs | None, SPARSE] = None

    @property
    def people(self) -> dict[People, HumanPairs]:
        """The comparison with the pairs of each origin, if there are any."""
        pairs: dict[People, HumanPairs | None]
        pairs = {"human": self.human, "constructed": self.constructed}
        return {origin: compared for origin, compared in pairs.items() if compared is not None}


@dataclass(frozen=True, slots=True)
class OperationValidity(Record):
    """How well the made pairs of one operation represent human pairs.

    Attributes:
        operation: The operation.
        digest: Digest of the ids of its made pairs (`pairs_digest`).
        categories: Error categories of the human pairs; empty means all.
        models: Model → its pass rates.
        tau_b: Kendall's tau-b, over models, of their pass rates on made and on human pairs; None if
            fewer than two models have both, or all rates are equal.
    """

    operation: Name
    digest: Annotated[str, Limit("pattern", "^[0-9a-f]{16}$")]
    categories: tuple[Name, ...]
    models: Mapping[str, ModelValidity]
    tau_b: Annotated[Mapping[People, Correlation | None], Keys(("human", "constructed"))]

    def mean_difference(self, origin: People) -> float | None:
        """Return the mean difference over models, made minus human; None if no model has both."""
        people = (rates.people for rates in self.models.values())
        return mean_defined([each[origin].difference for each in people if origin in each])


@dataclass(frozen=True, slots=True, repr=False)
class Validity(Result):
    """How well made pairs represent human pairs.

    Attributes:
        operations: Every operation; never empty.
        cautions: Caveats, a sentence each.
        sentences: The findings as sentences, including the cautions.
        signatures: Signatures of the scores.
    """

    operations: Annotated[tuple[OperationValidity, ...], Limit("minItems", 1)]
    cautions: Annotated[tuple[str, ...], UNSTORED]
    sentences: tuple[str, ...] = field(init=False)
    signatures: tuple[Name, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", (self.headline(), *self.remarks()))

    def headline(self) -> str:
        """Return how far the pass rates on made pairs are from those on human pairs."""
        parts = [
            f"{each.operation} {100 * difference:+.1f}"
            for each in self.operations
            for origin in ("human", "constructed")
            if (difference := each.mean_difference(origin)) is not None
            and (origin == "human" or each.mean_difference("human") is None)
        ]
        models = len({model for each in self.operations for model in each.models})
        over = f", mean over {models} models" if models > 1 else ""
        return (
            f"Pass rate on made pairs minus that on human pairs{over}, in points: "
            f"{', '.join(parts) or 'no human pairs to compare with'}."
        )

    def remarks(self) -> list[str]:
        """Return how hard made pairs are, how they rank models, and which baselines pass them."""
        return [*self.cautions, *self._ease(), *self._orders(), *self._giveaways()]

    def _ease(self) -> Iterator[str]:
        for each in self.operations:
            for origin in each.tau_b:
                verdicts = [
                    rates.people[origin].verdict
                    for rates in each.models.values()
                    if origin in rates.people and rates.people[origin].verdict != "untested"
                ]
                easier, harder = verdicts.count("first"), verdicts.count("second")
                if easier or harder:
                    yield (
                        f"{each.operation}: made pairs are significantly easier than {origin} ones "
                        f"for {easier} of {counted(len(verdicts), 'model')}, harder for {harder}."
                    )
                elif verdicts:
                    yield (
                        f"{each.operation}: no model's pass rate differs significantly between "
                        f"made and {origin} pairs."
                    )

    def _orders(self) -> Iterator[str]:
        for each in self.operations:
            taus = [
                f"{tau:.2f} with {origin} pairs"
                for origin, tau in each.tau_b.items()
                if tau is not None
            ]
            if taus:
                yield (
                    f"{each.operation}: Kendall's tau-b of {len(each.models)} models' pass rates "
                    f"is {' and '.join(taus)}."
                )

    def _giveaways(self) -> Iterator[str]:
        for each in self.operations:
            rates = next(iter(each.models.values()))
            for name in _SURFACE:
                made = reached(rates.made, name)
                if made is not None and made >= _GIVEN_AWAY:
                    others = ", ".join(
                        f"{100 * rate:.1f} % of the {origin} ones"
                        for origin, compared in rates.people.items()
                        if (rate := reached(compared.pairs, name)) is not None
                    )
                    yield (
                        f"{each.operation}: {_IN_WORDS[name]} passes {100 * made:.1f} % of the "
                        f"made pairs{others and f', {others}'}."
                    )

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each operation, model and origin of human pairs.

        Returns:
            operation, model, origin, the columns of the difference of the made pairs from the human
            ones, and human_n, the number of human tests.
        """
        rows = [
            {"operation": each.operation, "model": model, "origin": origin}
            | cells_of(compared)
            | {"human_n": compared.pairs.n}
            for each in self.operations
            for model, rates in each.models.items()
            for origin, compared in rates.people.items()
        ]
        keys = dict.fromkeys(("operation", "model", "origin"), pl.String())
        return pl.DataFrame(rows, {**keys, **frame_schema(HumanPairs), "human_n": pl.Int64()})

    def write(self, folder: str | Path) -> None:
        """Write validity.json to a folder; in the folder of the suite, its card shows it.

        Raises:
            NNDError: If a file of that name exists that nnd did not write.
            OSError: If it cannot be written.
        """
        path = Path(folder) / VALIDITY
        with replace_own(path, lambda own: own.name in own_files(own.parent, VALIDITY)) as fresh:
            write_document(fresh.parent, self.to_dict(), document=fresh.name)


_IN_WORDS = {
    "shorter_wins": "picking the shorter text",
    "longer_wins": "picking the longer text",
    "copy_wins": "picking the text that copies more of the context",
}


def reached(rate: Rate, baseline: str) -> float | None:
    """Return the pass rate of a baseline, with undecided tests counting half."""
    result = rate.baselines.get(baseline)
    return None if result is None else result.with_coin
