"""Checks of judgements: do they contradict each other?"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.converters.check.check_report import Verdict, judged
from nnd.converters.check.checked_data import CheckedData
from nnd.schemas import CONTEXT, counted, listed

_LEAST_ASPECTS = 3
_AGAINST = -0.1
"""Correlation of an aspect with the others below which it runs against them; -0.07 is the lowest
of five sets that are right, and -0.12 the highest of 40 reversed aspects."""

_LEAST_NUMBERS = 20
_RARE = 0.01
"""Largest share of the numbers of an aspect that may be mistakes."""

_SOME = 0.05

_NUMBER = pl.coalesce(pl.col("ratings").list.mean(), pl.col("score"))


def check_systems(data: CheckedData) -> Verdict:
    """Check that a pair is of two systems, and that no name is written in two ways."""
    same = data.tests.filter(pl.col("system_high") == pl.col("system_low"))
    found = list[str]()
    if same.height:
        name = same["system_high"].value_counts(sort=True)["system_high"][0]
        found.append(
            f"{same.height:,} of {data.tests.height:,} pairs have one system on both sides, most "
            f"often {name}"
        )
    names = data.candidates["system"].drop_nulls().str.split("|").explode().unique().sort()
    bare = pl.DataFrame({"name": names, "bare": names.str.replace_all(r"\s+", "")})
    for (written,) in bare.group_by("bare", maintain_order=True).agg("name").select("name").rows():
        if len(written) > 1:
            found.append(f"systems that differ only by blanks: {listed([*map(repr, written)])}")
    remedy = "read the column that tells the systems apart, or give judgements made apart a `group`"
    return judged("review", found, remedy, f"{counted(len(names), 'system')}, two in each pair")


def check_verdicts(data: CheckedData) -> Verdict:
    """Check that one judgement does not say both, and that few pairs are their own reverse."""
    found = [*_labelled_both(data), *_both_ways(data)]
    remedy = "give the judgements of each annotator a `group`, or merge them by a rule"
    return judged("review", found, remedy, "no judgement contradicts itself")


def _labelled_both(data: CheckedData) -> Iterator[str]:
    """Yield how many candidates have a label that is only ever high, and one that is only low."""
    high, low = (
        {*data.pairs[column].drop_nulls()} if column in data.pairs.columns else set[str]()
        for column in ("label_high", "error_category")
    )
    who = [*CONTEXT, "candidate_id", "system", "aspect", "group"]
    labels = (
        data.candidates.drop_nulls("label")
        .group_by(who)
        .agg(
            (pl.col("label").is_in([*(side - other)]).any()).alias(name)
            for name, side, other in (("high", high, low), ("low", low, high))
        )
    )
    both = labels.filter("high", "low").height
    if both:
        yield f"{both:,} of {labels.height:,} candidates have an error and none, in one judgement"


def _both_ways(data: CheckedData) -> Iterator[str]:
    within = _count_reversed(data, ["high_id", "low_id"], "group")
    across = _count_reversed(data, ["candidate_high", "candidate_low"])
    if within or across > _SOME * data.tests.height:
        where = " within one group" if within else ""
        yield f"{within or across:,} pairs and their reverse{where}"


def _count_reversed(data: CheckedData, sides: list[str], *known: str) -> int:
    columns = [*CONTEXT, "aspect", *known, *sides]
    tests = data.tests.select(columns).unique()
    turned = tests.rename(dict(zip(sides, sides[::-1], strict=True)))
    return tests.join(turned, on=columns, how="semi", nulls_equal=True).height // 2


def check_aspects(data: CheckedData) -> Verdict:
    """Check that no aspect runs against the others.

    The ranks of candidates within their contexts have one direction in which most aspects rise: the
    first principal component. An aspect runs against the others if it falls in this direction, and
    its ranks fall where the mean rank under the others rises, each taken in that direction.
    """
    aspects, ranks = _ranks(data)
    if len(aspects) < _LEAST_ASPECTS or len(ranks) < _LEAST_NUMBERS:
        return "pass", f"{counted(len(aspects), 'aspect')} with numbers, too few to compare", ""
    direction = np.linalg.eigh(ranks.T @ ranks)[1][:, -1]
    if direction.sum() < 0:
        direction = -direction
    signed = ranks * np.sign(direction)
    correlations = {
        aspect: float(np.corrcoef(ranks[:, at], np.delete(signed, at, axis=1).mean(axis=1))[0, 1])
        for at, aspect in enumerate(aspects)
    }
    found = [
        f"{aspect} falls where the others rise (r = {r:.2f})"
        for aspect, r in correlations.items()
        if r <= _AGAINST
    ]
    lowest = min(aspects, key=correlations.__getitem__)
    remedy = "reverse its numbers if less is better under it"
    fine = f"{len(aspects)} aspects; r is lowest for {lowest}, {correlations[lowest]:.2f}"
    return judged("review", found, remedy, fine)


def _ranks(data: CheckedData) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Return the aspects with numbers, and the rank of each candidate in its context under each.

    Ranks are centred in each context and have a variance of 1; candidates that lack an aspect are
    left out.
    """
    numbers = data.candidates.with_columns(number=_NUMBER).drop_nulls("number")
    aspects = sorted(numbers["aspect"].drop_nulls().unique())
    if len(aspects) < _LEAST_ASPECTS:
        return aspects, np.empty((0, len(aspects)))
    candidates = numbers.pivot(
        "aspect", index=[*CONTEXT, "candidate_id"], values="number", aggregate_function="mean"
    ).drop_nulls(aspects)
    rank = pl.col(aspects).rank()
    ranks = candidates.select((rank - rank.mean()).over(CONTEXT)).to_numpy()
    known = ranks.std(axis=0) > 0
    aspects = [aspect for aspect, varies in zip(aspects, known, strict=True) if varies]
    return aspects, ranks[:, known] / ranks[:, known].std(axis=0)


def check_scales(data: CheckedData) -> Verdict:
    """Check that no number is far outside the range of all others of its aspect."""
    single = pl.concat_list("score").list.drop_nulls()
    numbers = data.candidates.select("aspect", number=pl.coalesce("ratings", single))
    numbers = numbers.explode("number").drop_nulls("number")
    found = list[str]()
    for (aspect,), rows in numbers.group_by("aspect", maintain_order=True):
        counts = rows["number"].value_counts(name="n").sort("number")
        values, times = counts["number"].to_list(), counts["n"].to_list()
        for sign in (1, -1):
            odd = _isolated(values[::sign], times[::sign])
            if odd:
                rest = sorted(set(values) - set(odd))
                total = sum(time for value, time in zip(values, times, strict=True) if value in odd)
                found.append(
                    f"{total:,} of {rows.height:,} numbers of {aspect} "
                    f"{'is' if total == 1 else 'are'} {listed([f'{value:g}' for value in odd])}; "
                    f"the others are from {rest[0]:g} to {rest[-1]:g}"
                )
    remedy = "correct the annotation file, or drop the row in the converter"
    return judged("review", found, remedy, f"{numbers.height:,} numbers, none far from the others")


def _isolated(values: list[float], times: list[int]) -> list[float]:
    """Return the last values, if few numbers have them, beyond a gap wider than all the rest."""
    n = sum(times)
    for at in range(len(values) - 1, 1, -1):
        if sum(times[at:]) > _RARE * n or n < _LEAST_NUMBERS:
            return []
        if abs(values[at] - values[at - 1]) > abs(values[at - 1] - values[0]):
            return values[at:]
    return []
