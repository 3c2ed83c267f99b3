"""The result of an estimate."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from nnd.metric.numbers import short_names
from nnd.metric.run.cost.model_needs import Need
from nnd.metric.run.cost.model_outline import ModelOutline
from nnd.schemas import Printable, Record, StoredAs, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

_TITLES = ("model", "dataset", "tests", "tokens", "operations", "memory", "time")
_UNKNOWN = "n/a"
_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_BESIDE = (
    "The estimate excludes loading, and the proof of the fast path in a model's first run; "
    "likelihoods stored by earlier runs cost nothing."
)
_MINUTE, _HOUR = 60, 3_600


@dataclass(frozen=True, slots=True)
class ModelEstimate(Record):
    """What an evaluation of one model would cost.

    Attributes:
        model: Its name.
        device: Where it would run.
        dtype: Precision of its weights.
        parameters: Number of its weights.
        weight_bytes: Memory that they take, unquantised.
        working_bytes: Further memory, for the tokens that are held at once.
        operations_per_second: Measured in an earlier run, or else by a probe; None if that failed.
        is_measured: Whether it was measured in an earlier run.
        needs: Dataset → the work of the model on it.
        notes: What the estimate leaves out, a sentence each.
    """

    model: str
    device: str
    dtype: str
    parameters: int
    weight_bytes: int
    working_bytes: int
    operations_per_second: float | None
    is_measured: bool
    needs: Annotated[Mapping[str, Need], StoredAs("datasets")]
    notes: tuple[str, ...] = ()

    @property
    def memory(self) -> int:
        """Bytes for the weights and for the tokens held at once."""
        return self.weight_bytes + self.working_bytes


def model_estimate(
    name: str,
    outline: ModelOutline,
    needs: Mapping[str, Need],
    speed: float | None,
    *,
    is_measured: bool,
) -> ModelEstimate:
    """Return what work on some datasets costs a model, given its operations per second."""
    return ModelEstimate(
        model=name,
        device=outline.device,
        dtype=outline.dtype,
        parameters=outline.parameters,
        weight_bytes=outline.weight_bytes,
        working_bytes=outline.budget * outline.position_bytes,
        operations_per_second=speed,
        is_measured=is_measured,
        needs={
            dataset: replace(need, seconds=speed and need.flops / speed)
            for dataset, need in needs.items()
        },
    )


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Printable):
    """What an evaluation of several models on several datasets would cost.

    Attributes:
        models: One per model, in the order of the request.
    """

    models: tuple[ModelEstimate, ...]

    def headline(self) -> str:
        """Return the tokens, the operations, the memory and, if known, the time."""
        datasets = {name for each in self.models for name in each.needs}
        tokens, flops = (self._total(field) for field in ("tokens", "flops"))
        seconds = self._seconds()
        time = "" if seconds is None else f", about {_duration(seconds)}"
        memory = max(each.memory for each in self.models)
        return (
            f"{counted(len(self.models), 'model')} on {counted(len(datasets), 'dataset')}: "
            f"{tokens:,} tokens, {scaled(flops)}FLOP, {scaled(memory)}B of memory{time}."
        )

    def table(self) -> "Table":
        """Return a row per model and dataset."""
        table = text_table(_TITLES, self._rows(), right=_TITLES[2:])
        if len(table.rows) > 1:
            seconds = self._seconds()
            tokens, flops = f"{self._total('tokens'):,}", f"{scaled(self._total('flops'))}FLOP"
            time = _UNKNOWN if seconds is None else _duration(seconds)
            table.add_section()
            table.add_row("all", "", "", tokens, flops, "", time)
        return table

    def remarks(self) -> list[str]:
        """Return the cost of the baseline, and what the estimate leaves out."""
        lines = []
        saved = self._total("baseline_tokens")
        if saved:
            tokens = saved / self._total("tokens")
            flops = self._total("baseline_flops") / self._total("flops")
            lines.append(
                f"--no-unconditional leaves out the baseline without contexts: it saves {saved:,} "
                f"tokens ({100 * tokens:.0f} %) and {100 * flops:.0f} % of the operations."
            )
        names = short_names([each.model for each in self.models])
        for name, each in zip(names, self.models, strict=True):
            lines += [f"{name}: {note}" for note in each.notes]
            on = f"this {each.device} in {each.dtype}"
            if each.operations_per_second is None:
                lines.append(
                    f"{name}: the time is unknown, because no run has been measured on {on}, and "
                    "a small model of its kind cannot be tried."
                )
            elif not each.is_measured:
                lines.append(
                    f"{name}: the time may be off by a third, because no run has been measured on "
                    f"{on}; a small model with the same shapes was tried."
                )
        return [*lines, _BESIDE]

    def _rows(self) -> Iterator[tuple[str, ...]]:
        names = short_names([each.model for each in self.models])
        for name, each in zip(names, self.models, strict=True):
            for dataset, need in each.needs.items():
                yield (
                    name,
                    dataset,
                    f"{need.tests:,}",
                    f"{need.tokens:,}",
                    f"{scaled(need.flops)}FLOP",
                    f"{scaled(each.memory)}B",
                    _UNKNOWN if need.seconds is None else _duration(need.seconds),
                )

    def _total(self, field: str) -> int:
        return sum(getattr(need, field) for each in self.models for need in each.needs.values())

    def _seconds(self) -> float | None:
        """Return how long all models take, or None if the speed of one is unknown."""
        found = [need.seconds for each in self.models for need in each.needs.values()]
        known = [seconds for seconds in found if seconds is not None]
        return sum(known) if len(known) == len(found) else None


def scaled(value: float) -> str:
    """Return a number with three digits, and the prefix of its unit: `2.41 T`."""
    power = 0
    while value >= 999.5 and power < len(_PREFIXES) - 1:  # noqa: PLR2004 - three digits
        value, power = value / 1_000, power + 1
    return f"{value:.3g} {_PREFIXES[power]}"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"
