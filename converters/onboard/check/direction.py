"""Names of columns in a file that contradict which texts are better."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import polars as pl

from nnd.converters.check import BAD, PEOPLE, win_shares, words_of
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.knockouts import families_of
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.guess.name_words import COUNTED, VERDICT, more_is_better
from nnd.schemas import DISTINCT, spells_number

_GOOD = PEOPLE | {
    *("accepted", "best", "better", "chosen", "correct", "good", "preferred", "winner", "winning")
}
_BAD = BAD - {"error"}
_CHOICES = VERDICT | {"answer", "chosen", "preferred"}
_LEAST = 2
_MOST_VALUES = 12


def find_contradictions(case: Case, result: ReadingRun) -> Iterator[str]:
    """Yield columns of the files whose names say that the worse texts are the better ones."""
    tests = result.conversion.pairs.unique(DISTINCT)
    wins = win_shares(tests)
    high, low = {*tests["candidate_high"]}, {*tests["candidate_low"]}
    sides = high - low, low - high
    scores = _mean_scores(result.annotations)
    for family in families_of(case.contents([result])):
        columns = [*family.columns.values()]
        for column in columns:
            yield from _contradicted_names(column, sides, wins)
            yield from _opposed_scores(column, scores)
            yield from _contradicted_choices(column, columns, sides)


def _mean_scores(annotations: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Return aspect → candidate → the mean of its scores, or of its ratings."""
    score = pl.coalesce(pl.col("score"), pl.col("ratings").list.mean()).mean()
    found = defaultdict[str, dict[str, float]](dict)
    means = annotations.group_by("aspect", "candidate").agg(score=score).drop_nulls()
    for aspect, candidate, mean in means.rows():
        found[aspect][candidate] = mean
    return found


_Sides = tuple[Collection[str], Collection[str]]
"""The texts that are only ever better, and those that are only ever worse."""


def _contradicted_names(column: Column, sides: _Sides, wins: Mapping[str, float]) -> Iterator[str]:
    """Yield columns named as good (or bad) whose texts or systems are worse (better)."""
    says = bool(column.words & _GOOD) - bool(column.words & _BAD)
    if not says:
        return
    is_good, outcome = says > 0, "worse" if says > 0 else "better"
    if wrong := _mostly_worse({*column.cells}, sides if is_good else sides[::-1]):
        yield f"texts of {column.pattern} are the {outcome} ones in {wrong}"
    counts = Counter(name for name in column.cells if name in wins)
    is_of_systems = len(wins) > 1 and 2 * counts.total() > len(column.cells)
    if is_of_systems and says * _covariance([counts[name] for name in wins], [*wins.values()]) < 0:
        yield f"systems named in {column.pattern} come out {outcome}"


def _mostly_worse(texts: Collection[Any], sides: _Sides) -> str:
    """Return in how many of all cases texts are the worse ones, if they mostly are."""
    right, wrong = (sum(text in side for text in texts) for side in sides)
    is_so = right + wrong >= _LEAST and wrong > right
    return f"{wrong:,} of {right + wrong:,}" if is_so else ""


def _covariance(these: Sequence[float], those: Sequence[float]) -> float:
    mean, other = fmean(these), fmean(those)
    return sum((one - mean) * (two - other) for one, two in zip(these, those, strict=True))


def _opposed_scores(column: Column, scores: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield columns named like an aspect whose values run against the scores of the aspect."""
    for aspect, means in scores.items():
        is_any = len(scores) == 1 and column.words & {"score", "rating"}
        is_reversed = more_is_better([column]) is False or column.words & COUNTED
        if is_reversed or not (is_any or {*words_of(aspect)} <= column.words):
            continue
        both = [
            (float(holder[key]), means[text])
            for holder, key in column.places()
            if isinstance(holder, dict) and spells_number(str(holder[key]))
            for text in holder.values()
            if isinstance(text, str) and text in means
        ]
        if len(both) >= _LEAST and _covariance(*zip(*both, strict=True)) < 0:
            yield f"scores of {aspect} fall where {column.pattern} rises"


def _contradicted_choices(
    column: Column, columns: Sequence[Column], sides: _Sides
) -> Iterator[str]:
    """Yield columns that name the better of two texts, as `label: 1`, if it comes out worse."""
    named = {_side(cell) for cell in column.counts}
    if not _CHOICES & column.words or not 1 < len(named) <= _MOST_VALUES:
        return
    start = column.path.removesuffix(column.field)
    beside = {
        side: one.field
        for one in columns
        if one is not column and one.path == f"{start}{one.field}"
        if (side := _side(one.field)) in named
    }
    if len(beside) > 1:
        chosen = [
            holder.get(beside.get(_side(holder[key])))
            for holder, key in column.places()
            if isinstance(holder, dict)
        ]
        if wrong := _mostly_worse(chosen, sides):
            yield f"what {column.pattern} names is the worse one in {wrong}"


def _side(name: object) -> str:
    """Return the side that a name states: the 1 of `output_1`, the a of `Model A`."""
    return (words_of(str(name)) or [""])[-1]
