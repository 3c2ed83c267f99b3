"""How much noise the human scores of the compared systems have.

Two systems are separable if people's own scores of them differ significantly: the differences of
their scores in the contexts that both were judged in are tested by sign flips over contexts, or
over clusters of these if the data declares what contexts share (`sign_flips`), at the 5 % level,
without an adjustment for several tests. If no systems are separable, a correlation with the human
scores is one with noise.

The ceiling is the highest correlation that a measure without noise can be expected to reach. The
annotators, if their ratings are stored, or else the contexts or clusters are split into halves, and
each half gives every system a score. With r the mean correlation between two halves, each of n / f
of the n annotators, contexts or clusters (f = 2 if n is even), the reliability of the scores of all
of them is

    reliability = f r / (1 + (f - 1) r)      Spearman (1910), Correlation calculated from faulty
                                             data, British Journal of Psychology 3, 271-295;
                                             Brown (1910), Some experimental results in the
                                             correlation of mental abilities, ibid., 296-322
    ceiling     = sqrt(reliability)          Spearman (1904), The proof and measurement of
                                             association between two things, American Journal of
                                             Psychology 15, 72-101: its correction for attenuation

Both formulas are for Pearson's r, which the gap correlation equals. For up to `ALL_UP_TO`
of them, all pairs of halves are used, for more up to `RANDOM_SPLITS` seeded ones.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.metric.numbers.statistics.correlations import BATCHED
from nnd.metric.numbers.statistics.intervals import FloatArray
from nnd.metric.numbers.statistics.over_systems import FEWEST_SYSTEMS
from nnd.metric.numbers.statistics.sign_flips import sign_flip_ps
from nnd.metric.numbers.statistics.significance import LEVEL
from nnd.schemas import CONTEXT, Correlation, Count, Natural, Record, Share, counted

ALL_UP_TO, RANDOM_SPLITS = 10, 1_000
_IN_MEMORY = 5_000_000
"""Splits times contexts that are held in memory."""

_Level: TypeAlias = Literal["contexts", "clusters"]
_Halves: TypeAlias = Literal["annotators", "contexts", "clusters"]

_ROUNDED = 1e-3
"""Stored means of ratings may be rounded by this much."""


@dataclass(frozen=True, slots=True)
class Ceiling(Record):
    """The highest correlation that noise in the human scores admits (module docstring).

    Attributes:
        gap_r: Highest gap correlation (Pearson's r) that can be expected.
        reliability: Reliability of the human scores, 0 if halves do not agree at all.
        between_halves_r: Mean Pearson's r between two halves.
        between_halves_tau_b: Mean Kendall's tau-b between them; None if undefined.
        halves_of: What is split into halves.
        splits: Number of splits.
    """

    gap_r: Share
    reliability: Share
    between_halves_r: Correlation
    between_halves_tau_b: Correlation | None
    halves_of: _Halves
    splits: Natural


@dataclass(frozen=True, slots=True)
class HumanNoise(Record):
    """The noise in the human scores of some systems (module docstring).

    Attributes:
        pairs: Pairs of systems that were judged in the same contexts.
        separable: Of these, how many people's own scores separate.
        ceiling: The highest correlation to be expected; None below four systems, or if undefined.
        over: What the sign flips are over: contexts, or clusters of contexts that share what the
            data declares, such as a paragraph. Older results lack it: they are over contexts.
    """

    pairs: Count
    separable: Count
    ceiling: Ceiling | None
    over: _Level = "contexts"

    def sentence(self) -> str:
        """Say how many pairs of systems are separable, without the full stop."""
        how = f"(sign flips over {self.over}, p < {LEVEL:g})"
        if self.pairs == 1:
            differ = "differ" if self.separable else "do not differ"
            return f"People's own scores of two of these systems {differ} significantly {how}"
        of = f"{self.separable or 'none'} of the {counted(self.pairs, 'pair')} of these systems"
        return f"People's own scores differ significantly for {of} {how}"

    def ceiling_sentence(self) -> list[str]:
        """Say how high a correlation can be expected, if that is known."""
        if self.ceiling is None:
            return []
        highest, halves = f"{self.ceiling.gap_r:.2f}", f"{self.ceiling.between_halves_r:.2f}"
        between = f"{halves} between halves of the {self.ceiling.halves_of}"
        return [f"Noise in the human scores admits a Pearson r of {highest} at most ({between})."]


class _Cells(NamedTuple):
    """Sums and counts of what people gave, [contexts or annotators, systems, aspects]."""

    sums: FloatArray
    counts: FloatArray


def find_noise(numbers: pl.DataFrame, systems: Sequence[str]) -> HumanNoise | None:
    """Return the noise in the human scores of some systems.

    Args:
        numbers: What `judged_numbers` returns, and `cluster` if contexts may share something; its
            rows may be in any order.
        systems: The systems.

    Returns:
        The noise, or None if no two systems were judged in the same context.
    """
    rows = numbers.filter(pl.col("system").is_in([*systems])).sort(*CONTEXT, "number", "ratings")
    if rows.is_empty():
        return None
    rows, over = _with_owners(rows)
    by_context = _cells(rows.with_columns(unit=pl.struct(CONTEXT), value="number"), systems)
    owners = rows.unique(CONTEXT).sort(CONTEXT)["owner"].rank("dense").to_numpy() - 1
    pairs, separable = _separate(by_context, owners)
    if not pairs:
        return None
    halves_of: _Halves = over
    if (units := _rated(rows)) is not None:
        halves_of = "annotators"
    else:
        units = rows.with_columns(unit="owner", value="number")
    return HumanNoise(pairs, separable, _ceiling(_cells(units, systems), halves_of), over)


def _with_owners(rows: pl.DataFrame) -> tuple[pl.DataFrame, _Level]:
    """Return rows with the cluster of each context as `owner`, and what clusters are."""
    named = ["cluster"] if "cluster" in rows.columns else []
    is_declared = bool(named) and rows["cluster"].null_count() < rows.height
    owner = pl.struct("split", pl.coalesce(*named, "context_id").alias("cluster"))
    return rows.with_columns(owner=owner), "clusters" if is_declared else "contexts"


def _rated(rows: pl.DataFrame) -> pl.DataFrame | None:
    """Return a row for every rating; None unless every number is the mean of several of them."""
    ratings = pl.col("ratings").list
    is_mean = (ratings.len() > 1) & ((ratings.mean() - pl.col("number")).abs() < _ROUNDED)
    if not rows.select(is_mean.fill_null(value=False).all()).item():
        return None
    places = pl.int_ranges(ratings.len()).alias("unit")
    return rows.with_columns(places, value="ratings").explode("unit", "value")


def _cells(rows: pl.DataFrame, systems: Sequence[str]) -> _Cells:
    """Return the sums and counts of `value` by `unit`, in the order of the units."""
    aspects = rows["aspect"].unique().sort()
    placed = rows.select(
        pl.col("unit").rank("dense").cast(pl.Int64) - 1,
        pl.col("system").replace_strict({name: at for at, name in enumerate(systems)}),
        pl.col("aspect").replace_strict({name: at for at, name in enumerate(aspects)}),
        "value",
    )
    cells = np.zeros((2, placed["unit"].n_unique(), len(systems), len(aspects)))
    at = tuple(placed[name].to_numpy() for name in ("unit", "system", "aspect"))
    np.add.at(cells[0], at, placed["value"].to_numpy())
    np.add.at(cells[1], at, 1)
    return _Cells(*cells)


def _separate(cells: _Cells, owners: npt.NDArray[np.intp]) -> tuple[int, int]:
    """Return the number of pairs of systems, and of those that are separable.

    `owners` are the numbers of the clusters of the contexts, [contexts].
    """
    with np.errstate(invalid="ignore"):  # 0 / 0 is nan: not judged
        scores = cells.sums / cells.counts
    first, second = np.triu_indices(scores.shape[1], k=1)
    differences = scores[:, first] - scores[:, second]
    shared = np.isfinite(differences)
    n = shared.sum(axis=2)
    means = np.where(shared, differences, 0).sum(axis=2) / np.maximum(n, 1)
    known = n.any(axis=0)
    sums = np.zeros((owners.max() + 1, int(known.sum())))
    np.add.at(sums, owners, means[:, known])
    p_values = sign_flip_ps(sums)
    return len(p_values), sum(p < LEVEL for p in p_values)


def _ceiling(cells: _Cells, halves_of: _Halves) -> Ceiling | None:
    units, systems, _ = cells.sums.shape
    if units < 2 or systems < FEWEST_SYSTEMS:  # noqa: PLR2004 - halves
        return None
    halves = _halves(units)
    scores = [_scores(cells, half) for half in halves.swapaxes(0, 1)]
    known = [np.isfinite(half).all(axis=1) for half in scores]
    first, second = (half[known[0] & known[1]] for half in scores)
    r, tau_b = (_mean(BATCHED[name](first, second)) for name in ("pearson", "tau_b"))
    if r is None:
        return None
    factor = units / (units // 2)
    reliability = max(0.0, factor * r / (1 + (factor - 1) * r)) if r > 0 else 0.0
    return Ceiling(math.sqrt(reliability), reliability, r, tau_b, halves_of, len(halves))


def _halves(units: int, *, seed: int = 0) -> FloatArray:
    """Return which of the units are in each of two halves, [splits, 2, units]: 1 or 0."""
    size = units // 2
    if units <= ALL_UP_TO:
        ways = [
            (one, other)
            for one in combinations(range(units), size)
            for other in combinations([u for u in range(one[0] + 1, units) if u not in one], size)
        ]
    else:
        rng, splits = np.random.default_rng(seed), min(RANDOM_SPLITS, 1 + _IN_MEMORY // units)
        order = rng.permuted(np.tile(np.arange(units), (splits, 1)), axis=1)
        ways = [(row[:size], row[size : 2 * size]) for row in order]
    halves = np.zeros((len(ways), 2, units))
    for place, (one, other) in enumerate(ways):
        halves[place, 0, [*one]] = halves[place, 1, [*other]] = 1
    return halves


def _scores(cells: _Cells, half: FloatArray) -> FloatArray:
    """Return the scores of the systems by a half of the units in each split, [splits, systems].

    As in human scores, this is the mean over the aspects that a system was judged in; it is nan if
    the half lacks one of these.
    """
    sums, counts = (np.tensordot(half, each, axes=1) for each in cells)
    judged = cells.counts.any(axis=0)
    with np.errstate(invalid="ignore"):
        means = np.where(judged, sums / counts, 0)
        scores: FloatArray = means.sum(axis=2) / judged.sum(axis=1)
    return scores


def _mean(values: FloatArray) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None
