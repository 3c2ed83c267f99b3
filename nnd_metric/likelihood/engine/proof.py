"""The proof: a path's numbers for some requests are compared with those of requests alone.

The path's numbers cost nothing: they come from the run's own batches. Only scoring alone is extra
work, so the requests are few: those most likely to show a mistake, whose batches are computed first
and stored only after the check, and a random sample, a hundredth of the run but at most 32.

What rounding does to all paths alike is measured once for a model, on a few requests in float64.
A request's mean is no further off than its worst token, so few tokens say much.
"""

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import torch

from nnd.metric.likelihood.engine.answers import OTHER_NUMBERS
from nnd.metric.likelihood.engine.batch_plan import Batch
from nnd.metric.likelihood.engine.float64_numbers import has_float64, in_float64
from nnd.metric.likelihood.engine.lengths import crossed_lengths, read_lengths
from nnd.metric.likelihood.engine.memory import release, room_for
from nnd.metric.likelihood.engine.model_state import as_found
from nnd.metric.likelihood.engine.padded_paths import score_one_by_token
from nnd.metric.likelihood.engine.paths import ALONE
from nnd.metric.likelihood.engine.precision import precision_of
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded
from nnd.schemas import Amount, Count, Record, ScoringError

# Share of a run's positions that is drawn at random and read once more. On a CPU, a request alone
# costs about a third more per position than in a batch, so this is a hundredth of the work.
_SHARE = 0.0075

# A GPU takes as long for one request as for thousands of positions in a batch: with GPT-2, 500
# requests alone would cost 60 % of a run on an H100, and 32 cost 4 %.
_MOST_DRAWN = 32

# Most requests scored in float64, in the first run of a model, and most positions of them: each
# costs as much as three in float32. With requests drawn 100 times, the means of 80 others exceeded
# the worst token of these by a factor of 2.1 at most in 28 tiny families (Zamba2 and
# RecurrentGemma: 4.2, in 2 % of draws more than 3), and those of 66 by 1.2 in SmolLM2 and 0.9 in
# Gemma-3 270M. Short requests tell less: the worst of the 4 shortest was exceeded by up to 14.
_MOST_MEASURED = 8
_MOST_WIDE = 400


class PathOffError(Exception):
    """A path gives other numbers than requests scored alone."""


@dataclass(frozen=True, slots=True)
class Proof(Record):
    """Which path is used for a model, and how far its numbers are from requests scored alone.

    Attributes:
        path: Its name.
        deviation: Largest difference, in nats per scored token, or the rounding error if that is
            larger: that of the precision, and of the worst token of the requests in float64.
        reach: Tokens of the longest request that was checked.
        padded: Tokens of the longest checked request that was itself padded.
        crossed: Lengths named by the config for which requests on both sides were checked.
        switched_off: Why each faster path is not used.
        measured: Requests that were also scored in float64; 0 if the model cannot be.
    """

    path: str
    deviation: Amount
    reach: Count
    padded: Count = 0
    crossed: tuple[Count, ...] = ()
    switched_off: tuple[str, ...] = ()
    measured: Count = 0

    def covers(self, alone: "Alone") -> bool:
        """Whether requests like these were checked."""
        return alone.reach <= self.reach and {*alone.crossed} <= {*self.crossed}


@dataclass(slots=True)
class Evidence:
    """What an engine has learnt about the paths of its model, in all calls so far.

    Attributes:
        proof: The last proof, if any; it holds while weights change, but not while code does.
        draws: How often requests were drawn.
        spare: Positions that could have been drawn so far, but were not.
    """

    proof: Proof | None = None
    draws: int = 0
    spare: float = 0.0

    def draw(self, rows: Sequence[Encoded], of: int) -> list[int]:
        """Return requests drawn at random from a plan of that many positions.

        Calls may be many and small, so that positions which are too few for a request are left to
        the next call; and each draws half as many requests as the one before, but at least one.
        """
        chance = random.Random(self.draws)  # noqa: S311 - no secret
        most = max(1, _MOST_DRAWN >> self.draws)
        self.draws += 1
        self.spare += _SHARE * of
        drawn = list[int]()
        for number in chance.sample(range(len(rows)), min(most, len(rows))):
            if rows[number].length > self.spare:
                break
            self.spare -= rows[number].length
            drawn.append(number)
        return drawn


class Alone:
    """The numbers of some requests scored alone, each computed once.

    The model is in evaluation mode, and each request has a scored token. `seconds` is how long the
    proof has taken so far.
    """

    def __init__(self, loaded: LoadedModel, rows: Sequence[Encoded]) -> None:
        self.loaded, self.rows = loaded, rows
        self.seconds = 0.0
        self._sums: dict[int, float] = {}
        self._rounding: dict[int, float] = {}

    @cached_property
    def reach(self) -> int:
        """Tokens of the longest request."""
        return max(row.length for row in self.rows)

    @cached_property
    def crossed(self) -> tuple[int, ...]:
        """Lengths named by the config with requests on both sides."""
        return crossed_lengths(self.loaded, self.rows)

    def sums(self, numbers: Sequence[int]) -> dict[int, float]:
        """Return the sum of log P of some requests, by number."""
        with self.timed():
            for number in numbers:
                if number not in self._sums:
                    self._sums[number] = score_alone(self.loaded, self.rows[number])
        return {number: self._sums[number] for number in numbers}

    def rounding(self, numbers: Sequence[int]) -> list[float]:
        """Return how far the worst token of each request is from float64, where that can be said.

        The mean of a request is no further off than its worst token.
        """
        if not has_float64(self.loaded):
            return []
        new = [number for number in numbers if number not in self._rounding]
        if new:
            with self.timed():
                errors = measure_rounding(self.loaded, [self.rows[number] for number in new])
            self._rounding |= zip(new, errors, strict=True)
        return [error for number in numbers if math.isfinite(error := self._rounding[number])]

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add the time of a block to that of the proof."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - start


class Checks:
    """Some requests of a run through one path, compared with `Alone` as they arrive.

    If what is `known` of the path covers the requests (`covered`), only a random sample is checked,
    and new padding.
    """

    def __init__(self, alone: Alone, known: Proof, evidence: Evidence, *, covered: bool) -> None:
        self.alone, self._known, self._evidence, self._covered = alone, known, evidence, covered
        self._padded = 0
        self._exact: dict[int, float] = {}
        self._first: set[int] = set()
        self._apart: list[float] = []
        self._rounding: list[float] = []

    @property
    def passed(self) -> bool:
        """Whether all requests that must be right before anything is stored were right."""
        return not self._first

    @property
    def proof(self) -> Proof:
        """What was proved before, and here so far."""
        known, alone = self._known, self.alone
        rounding = precision_of(alone.loaded).rounding
        return replace(
            known,
            deviation=max([known.deviation, rounding, *self._apart, *self._rounding]),
            reach=max(known.reach, alone.reach),
            padded=max(known.padded, self._padded),
            crossed=tuple(sorted({*known.crossed, *alone.crossed})),
            measured=known.measured + len(self._rounding),
        )

    def choose(self, batches: Sequence[Batch], *, pads: bool, of: int) -> None:
        """Choose the requests of a plan to check, and score them alone.

        `batches` are the remaining ones, so that a resumed run makes the remaining checks; `of` is
        the number of positions in the whole plan.
        """
        rows = self.alone.rows
        padded = _padded(self.alone, batches) if pads else []
        self._padded = max((rows[number].length for number in padded), default=0)
        if not self._covered:
            self._first = {*_telling(self.alone, batches), *padded}
        elif self._padded > self._known.padded:
            self._first = {*padded}
        left = {number for batch in batches for number in batch.requests}
        drawn = left.intersection(self._evidence.draw(rows, of))
        self._exact = self.alone.sums(sorted(self._first | drawn))
        if not self._known.measured:
            self._rounding = self.alone.rounding(_densest(rows, sorted(left)))

    def in_order(self, batches: Sequence[Batch]) -> list[Batch]:
        """Return the batches, those with requests that must be right first."""
        return sorted(batches, key=lambda batch: self._first.isdisjoint(batch.requests))

    def compare(self, sums: Mapping[int, float]) -> None:
        """Compare a path's sums of some requests with those of the requests alone.

        Raises:
            PathOffError: If the numbers differ.
            ScoringError: If they are NaN on the path and alone.
        """
        if (nan := next((n for n, value in sums.items() if math.isnan(value)), None)) is not None:
            self.alone.sums([nan])
            raise PathOffError("it returns NaN")
        checked = self._exact.keys() & sums.keys()
        self._first -= checked
        for number in sorted(checked):
            one, other = sums[number], self._exact[number]
            tokens = sum(self.alone.rows[number].scored)
            self._apart.append(0.0 if one == other else abs(one - other) / tokens)
        if not self._apart:
            return
        precision = precision_of(self.alone.loaded)
        # Half precision rounds every logit: one token may be off by a step, but not the mean of
        # many.
        mean = sum(self._apart) / len(self._apart)
        apart = max(self._apart) if precision.each else mean
        if apart > precision.bound:
            raise PathOffError(f"{apart:.1e} {OTHER_NUMBERS}, more than {precision.bound:.0e}")


def score_alone(loaded: LoadedModel, row: Encoded) -> float:
    """Return the sum of log P over the scored targets of one request, scored alone."""
    batch = Batch((), ((0,),), row.length)
    with room_for(loaded, row.length), as_found(loaded.model), ALONE.open(loaded) as score:
        value = float(score([row], batch)[0])
    if math.isnan(value):
        raise ScoringError(
            "model.damaged",
            f"the model returns NaN in {loaded.dtype}",
            loaded.name,
            "check its weights, or load it in another dtype (nnd evaluate --dtype float32, "
            "bfloat16)",
        )
    return value


def measure_rounding(loaded: LoadedModel, rows: Sequence[Encoded]) -> list[float]:
    """Return how far the worst token of each request is from float64, in nats.

    All are NaN if the model's code has no float64.
    """
    try:
        own = [_score_by_token(loaded, row) for row in rows]
        with in_float64(loaded.model):
            exact = [_score_by_token(loaded, row) for row in rows]
    except Exception:  # noqa: BLE001 - models may raise anything in a dtype they were not written for
        release(loaded)
        return [math.nan] * len(rows)
    return [float((one - other).abs().max()) for one, other in zip(own, exact, strict=True)]


def _score_by_token(loaded: LoadedModel, row: Encoded) -> torch.Tensor:
    with as_found(loaded.model):
        return score_one_by_token(loaded, row).double()


def _densest(rows: Sequence[Encoded], numbers: Sequence[int]) -> list[int]:
    """Return some requests with many scored tokens for their length, to measure rounding on."""

    def density(number: int) -> float:
        return sum(rows[number].scored) / rows[number].length

    chosen, positions = list[int](), 0
    for number in sorted(numbers, key=density, reverse=True):
        positions += rows[number].length
        if len(chosen) >= _MOST_MEASURED or (chosen and positions > _MOST_WIDE):
            break
        chosen.append(number)
    return chosen


def _telling(alone: Alone, batches: Sequence[Batch]) -> list[int]:
    """Return the requests of a plan that are most likely to show a mistake.

    These are the longest; the shortest in its batch, which comes after others; the shortest that
    follows another of its context; the shortest of all; and those nearest to every length at which
    the model changes.
    """
    rows = alone.rows

    def length(number: int) -> int:
        return rows[number].length

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
    lengths = read_lengths(alone.loaded, alone.rows)[0].tolist()  # decoder inputs are never padded
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
    """Return the requests nearest to each length, on both sides, and a context beyond it.

    Among those that exceed a length, the one with the shortest context is the most likely to exceed
    it only with its candidate.
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
