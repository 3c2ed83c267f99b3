"""How well made pairs represent human pairs: the result of `compare --by origin`.

The made pairs (negatives of a suite) of an operation are compared with the human and the
constructed pairs of the error categories that the operation imitates. An operation is valid to the
degree that models pass its pairs as often as the human ones, that models are ranked alike, and that
surface features do not give away the wrong text.

The difference of two pass rates is unpaired, with its interval over contexts
(`statistics.unpaired`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from nnd.metric.numbers.rates.pass_rates import Rate
from nnd.metric.numbers.statistics.intervals import Interval
from nnd.metric.numbers.statistics.significance import LEVEL
from nnd.schemas import VALIDITY, Shown, counted, own_files, replace_own, write_document

if TYPE_CHECKING:
    from rich.table import Table

People: TypeAlias = Literal["human", "constructed"]
"""Origins of human pairs: texts of systems, or errors that people made on purpose."""

_SURFACE = ("shorter_wins", "longer_wins", "copy_wins")
_GIVEN_AWAY = 0.6
"""Share of made pairs that a baseline must pass to be mentioned."""

_SCHEMA = {
    "operation": pl.String,
    "model": pl.String,
    "origin": pl.String,
    "n": pl.Int64,
    "pass_rate": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class HumanPairs:
    """Human pairs of one origin, compared with the made pairs of an operation.

    Attributes:
        rate: Pass rate of the human pairs.
        difference: Pass rate of the made pairs minus that of the human ones, or None if n is 0.
        interval: 95 % interval of the difference over contexts, or None.
        p: p-value of the score test of equal rates, or None.
    """

    rate: Rate
    difference: float | None
    interval: Interval | None
    p: float | None

    @property
    def verdict(self) -> Literal["easier", "harder", "close"]:
        """Whether made pairs are easier or harder; `close` if this is not significant."""
        if self.interval is None or self.p is None or self.p >= LEVEL:
            return "close"
        low, high = self.interval
        return "easier" if low > 0 else "harder" if high < 0 else "close"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "rate": self.rate.to_dict(),
            "difference": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "p": self.p,
        }


@dataclass(frozen=True, slots=True)
class ModelValidity:
    """One model on the made pairs of an operation, and on human pairs.

    Attributes:
        made: Pass rate of the made pairs, with those of baselines.
        people: Comparison with the human and with the constructed pairs, if there are any.
    """

    made: Rate
    people: Mapping[People, HumanPairs]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        made: dict[str, Any] = {"made": self.made.to_dict()}
        return made | {origin: compared.to_dict() for origin, compared in self.people.items()}


@dataclass(frozen=True, slots=True)
class OperationValidity:
    """How well the made pairs of one operation represent human pairs.

    Attributes:
        operation: The operation.
        digest: Digest of the ids of its made pairs (`pairs_digest`).
        categories: Error categories of the human pairs; empty means all.
        models: Model → its pass rates.
        tau_b: Kendall's tau-b, over models, of their pass rates on made and on human pairs; None if
            fewer than two models have both, or all rates are equal.
    """

    operation: str
    digest: str
    categories: tuple[str, ...]
    models: Mapping[str, ModelValidity]
    tau_b: Mapping[People, float | None]

    def mean_difference(self, origin: People) -> float | None:
        """Return the mean difference over models, made minus human; None if no model has both."""
        differences = [
            rates.people[origin].difference
            for rates in self.models.values()
            if origin in rates.people
        ]
        known = [difference for difference in differences if difference is not None]
        return sum(known) / len(known) if known else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "operation": self.operation,
            "digest": self.digest,
            "categories": list(self.categories),
            "models": {model: rates.to_dict() for model, rates in self.models.items()},
            "tau_b": dict(self.tau_b),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Validity(Shown):
    """How well made pairs represent human pairs.

    Attributes:
        operations: Every operation; never empty.
        cautions: Caveats, a sentence each.
        signatures: Signatures of the scores.
    """

    operations: tuple[OperationValidity, ...]
    cautions: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()

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

    def table(self) -> "Table":
        """Return a row for each operation and model."""
        from nnd.metric.show import validity_table  # noqa: PLC0415 - rich is for people only

        return validity_table(self.to_dict()["operations"])

    def remarks(self) -> list[str]:
        """Return how hard made pairs are, how they rank models, and which baselines pass them."""
        return [*self.cautions, *self._ease(), *self._orders(), *self._giveaways()]

    def _ease(self) -> Iterator[str]:
        for each in self.operations:
            for origin in each.tau_b:
                people = [
                    rates.people[origin] for rates in each.models.values() if origin in rates.people
                ]
                verdicts = [
                    compared.verdict for compared in people if compared.interval is not None
                ]
                easier, harder = (verdicts.count(verdict) for verdict in ("easier", "harder"))
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
                        if (rate := reached(compared.rate, name)) is not None
                    )
                    yield (
                        f"{each.operation}: {_IN_WORDS[name]} passes {100 * made:.1f} % of the "
                        f"made pairs{others and f', {others}'}."
                    )

    def details(self) -> "list[Table | str]":
        """Return the pass rates of baselines on the pairs of each origin."""
        from nnd.metric.show import giveaways_table  # noqa: PLC0415

        return [giveaways_table(self.to_dict()["operations"])]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each operation, model and origin (`made` is one)."""
        return pl.DataFrame(list(self._rows()), _SCHEMA, orient="row")

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for each in self.operations:
            for model, rates in each.models.items():
                nothing = (None, None, None, None)
                yield (each.operation, model, "made", rates.made.n, rates.made.pass_rate, *nothing)
                for origin, compared in rates.people.items():
                    rate, bounds = compared.rate, compared.interval or (None, None)
                    numbers = (rate.n, rate.pass_rate, compared.difference, *bounds, compared.p)
                    yield (each.operation, model, origin, *numbers)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "operations": [each.to_dict() for each in self.operations],
            "sentences": [self.headline(), *self.remarks()],
            "signatures": [*self.signatures],
        }

    def write(self, folder: str | Path) -> None:
        """Write validity.json to a folder; in the folder of the suite, its card shows it.

        Raises:
            NNDError: If a file of that name exists that nnd did not write.
            OSError: If it cannot be written.
        """
        with replace_own(Path(folder) / VALIDITY, _is_validity) as fresh:
            write_document(fresh.parent, self.to_dict(), document=fresh.name)


def _is_validity(path: Path) -> bool:
    return path.name in own_files(path.parent, VALIDITY)


_IN_WORDS = {
    "shorter_wins": "picking the shorter text",
    "longer_wins": "picking the longer text",
    "copy_wins": "picking the text that copies more of the context",
}


def reached(rate: Rate, baseline: str) -> float | None:
    """Return the pass rate of a baseline, with undecided tests counting half."""
    result = rate.baselines.get(baseline)
    return None if result is None else result.with_coin
