"""The proof: what a path says of some requests is held against what each says by itself.

The path's side costs nothing: it is that of the run's own batches. Only the slow side is extra,
so the requests are few: those that would show a mistake, in batches that come first and of which
nothing is believed before, and as many drawn at random as make a hundredth of the run.
"""

import math
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nnd.metric.encoding import Encoded
from nnd.metric.engine.lengths import crossed_lengths, read_lengths
from nnd.metric.engine.memory import room_for
from nnd.metric.engine.paths import ALONE
from nnd.metric.engine.plan import Batch
from nnd.metric.engine.precision import precision_of
from nnd.metric.engine.state import as_found
from nnd.metric.models import LoadedModel
from nnd.schemas import ScoringError

# Of the positions that a run reads, those drawn at random to be read once more. By itself a request
# costs about a third more per position than in a batch, so this is a hundredth of the work.
_SHARE = 0.0075


class PathOffError(Exception):
    """A path gives other numbers than the requests by themselves."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Which path a model takes, and how far its numbers are from those of requests by themselves.

    Attributes:
        path: Its name.
        deviation: Largest difference seen, nats per scored token, or what the precision itself
            leaves open where that is more.
        reach: Tokens of the longest request that was tried.
        padded: Tokens of the longest request that was tried beside padding of its own.
        crossed: Lengths named by the config, on both sides of which requests were tried.
        switched_off: Why each faster path is not taken.
    """

    path: str
    deviation: float
    reach: int
    padded: int = 0
    crossed: tuple[int, ...] = ()
    switched_off: tuple[str, ...] = ()

    def joined(self, later: "Proof") -> "Proof":
        """Return this proof with what a later run through the same path has found."""
        return replace(
            self,
            deviation=max(self.deviation, later.deviation),
            reach=max(self.reach, later.reach),
            padded=max(self.padded, later.padded),
            crossed=tuple(sorted({*self.crossed, *later.crossed})),
        )

    def covers(self, loaded: LoadedModel, rows: Sequence[Encoded]) -> bool:
        """Whether requests like these were tried."""
        longest = max(map(_length, rows))
        return longest <= self.reach and set(crossed_lengths(loaded, rows)) <= {*self.crossed}


TRUSTED = Proof("any", 0.0, sys.maxsize, sys.maxsize)
"""Of a path that nobody doubts."""


class Alone:
    """What some requests are by themselves: the slow side, each computed once.

    Args:
        loaded: The model, in evaluation mode.
        rows: Requests, each with a scored token.
    """

    def __init__(self, loaded: LoadedModel, rows: Sequence[Encoded]) -> None:
        self.loaded, self.rows = loaded, rows
        self._sums: dict[int, float] = {}

    @cached_property
    def reach(self) -> int:
        """Tokens of the longest request."""
        return max(map(_length, self.rows))

    @cached_property
    def crossed(self) -> tuple[int, ...]:
        """Lengths named by the config, on both sides of which there are requests."""
        return crossed_lengths(self.loaded, self.rows)

    def sums(self, numbers: Iterable[int]) -> dict[int, float]:
        """Return the sum of log P of some requests, by number.

        Raises:
            ScoringError: If memory does not suffice, or the model answers with NaN.
        """
        wanted = list(numbers)
        for number in wanted:
            if number not in self._sums:
                self._sums[number] = score_alone(self.loaded, self.rows[number])
        return {number: self._sums[number] for number in wanted}


class Checks:
    """Some requests of a run through one path, held against `Alone` as they come.

    Args:
        alone: The slow side.
        proof: An earlier proof that covers the requests, or None. With one, only some drawn at
            random are checked, and padding that is new.
        share: How many are drawn: their share of the positions that the run reads.

    Attributes:
        padded: Tokens of the longest request that is padded.
    """

    def __init__(self, alone: Alone, proof: Proof | None, *, share: float = _SHARE) -> None:
        self._alone, self._proof, self._share = alone, proof, share
        self.padded = 0
        self._exact: dict[int, float] = {}
        self._first: set[int] = set()
        self._apart: list[float] = []

    @property
    def passed(self) -> bool:
        """Whether all requests that must be right before anything is believed were."""
        return not self._first

    @property
    def deviation(self) -> float:
        """Largest difference seen, nats per scored token, but no less than rounding makes."""
        return max([precision_of(self._alone.loaded).rounding, *self._apart])

    def choose(self, batches: Sequence[Batch], *, pads: bool, of: int) -> None:
        """Choose what to check of a plan, which pads or does not, and score it alone.

        Args:
            batches: What is left of the plan: a run that goes on checks what it would have checked.
            pads: Whether it pads.
            of: Positions of the whole plan.
        """
        padded = _padded(self._alone, batches) if pads else []
        self.padded = max((_length(self._alone.rows[number]) for number in padded), default=0)
        if self._proof is None:
            self._first = {*_telling(self._alone, batches), *padded}
        elif self.padded > self._proof.padded:
            self._first = {*padded}
        left = {number for batch in batches for number in batch.requests}
        drawn = left.intersection(_drawn(self._alone.rows, self._share * of))
        self._exact = self._alone.sums(sorted(self._first | drawn))

    def in_order(self, batches: Sequence[Batch]) -> list[Batch]:
        """Return batches in another order: those first of which something has to be right."""
        return sorted(batches, key=lambda batch: self._first.isdisjoint(batch.requests))

    def compare(self, found: Mapping[int, float]) -> None:
        """Hold what a path says of some requests against what they are alone.

        Raises:
            PathOffError: If it says something else.
            ScoringError: If it says NaN, as the model itself does.
        """
        for number in [number for number, value in found.items() if math.isnan(value)][:1]:
            self._alone.sums([number])
            raise PathOffError("it answers with NaN")
        checked = self._exact.keys() & found.keys()
        self._first -= checked
        for number in sorted(checked):
            one, other = found[number], self._exact[number]
            tokens = sum(self._alone.rows[number].scored)
            self._apart.append(0.0 if one == other else abs(one - other) / tokens)
        if not self._apart:
            return
        precision = precision_of(self._alone.loaded)
        # Half precision rounds every logit: one token may be off by a step, many are not.
        mean = sum(self._apart) / len(self._apart)
        apart = max(self._apart) if precision.each else mean
        if apart > precision.bound:
            raise PathOffError(
                f"{apart:.1e} nats from requests scored alone, more than {precision.bound:.0e}"
            )


def score_alone(loaded: LoadedModel, row: Encoded) -> float:
    """Return the sum of log P over the scored targets of one request, read by itself.

    Raises:
        ScoringError: If memory does not suffice, or the model answers with NaN.
    """
    batch = Batch((), ((0,),), _length(row))
    with room_for(loaded, _length(row)), as_found(loaded.model), ALONE.open(loaded) as score:
        value = float(score([row], batch)[0])
    if math.isnan(value):
        raise ScoringError(
            f"{loaded.name}: the model answers with NaN in {loaded.dtype}; load it "
            "in another dtype (float32, bfloat16), or check its weights"
        )
    return value


def _telling(alone: Alone, batches: Sequence[Batch]) -> list[int]:
    """Return the requests of a plan that would show a mistake.

    The longest; the shortest beside it, which stands behind others; the shortest that follows
    another of its context; the shortest of all; and those nearest to every length at which the
    model changes.
    """
    rows = alone.rows

    def length(number: int) -> int:
        return _length(rows[number])

    everyone = [number for batch in batches for number in batch.requests]
    longest = max(everyone, key=length)
    beside = next(batch for batch in batches if longest in batch.requests)
    followers = [number for batch in batches for number in _followers(rows, batch)]
    chosen = [
        longest,
        min(beside.requests, key=length),
        min(followers or everyone, key=length),
        min(everyone, key=length),
        *_nearest(alone, everyone),
    ]
    return list(dict.fromkeys(chosen))


def _padded(alone: Alone, batches: Sequence[Batch]) -> list[int]:
    """Return the most padded request of a plan, and the longest that is padded."""
    lengths = read_lengths(alone.loaded, alone.rows)[0].tolist()  # a decoder's are never padded
    padding = dict[int, int]()
    for batch in batches:
        widest = max(lengths[number] for number in batch.requests)
        padding |= {number: widest - lengths[number] for number in batch.requests}
    padded = [number for number, missing in padding.items() if missing]
    most, longest = padding.__getitem__, lengths.__getitem__
    return [max(padded, key=most), max(padded, key=longest)] if padded else []


def _followers(rows: Sequence[Encoded], batch: Batch) -> list[int]:
    """Return the requests of a batch that are not the first of their context."""
    firsts = {rows[number].context: number for number in reversed(batch.requests)}
    return [number for number in batch.requests if firsts[rows[number].context] != number]


def _nearest(alone: Alone, everyone: Sequence[int]) -> list[int]:
    """Return the requests nearest to each length crossed, on both sides, and a context across it.

    Of those that exceed a length, the one with the shortest context is likeliest to do so with its
    candidate only.
    """
    rows, chosen = alone.rows, list[int]()
    if not alone.crossed:
        return chosen
    for length in read_lengths(alone.loaded, rows).tolist():
        for crossed in alone.crossed:
            below = [number for number in everyone if length[number] <= crossed]
            above = [number for number in everyone if length[number] > crossed]
            if below and above:
                chosen += [max(below, key=length.__getitem__), min(above, key=length.__getitem__)]
                chosen.append(min(above, key=lambda number: len(rows[number].context)))
    return chosen


def _drawn(rows: Sequence[Encoded], left: float) -> list[int]:
    """Return requests drawn at random that are together no more than so many positions."""
    drawn = list[int]()
    for number in random.Random(0).sample(range(len(rows)), len(rows)):  # noqa: S311 - no secret
        left -= _length(rows[number])
        if left < 0:
            break
        drawn.append(number)
    return drawn


def _length(row: Encoded) -> int:
    return len(row.context) + len(row.inputs)
