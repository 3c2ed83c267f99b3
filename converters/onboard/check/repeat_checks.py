"""Checks for repetitions: reversed pairs, contexts and systems with two names, mixed scales."""

import re
from collections import defaultdict
from collections.abc import Iterator

import polars as pl

from nnd.converters.onboard.check.check_result import Check, judged
from nnd.converters.onboard.check.checked_source import Case, Result
from nnd.schemas import CONTEXT, fold, listed

REPEATS, SCALES = "repeats", "scales"

_FEW = 0.01
_LONG = 25
"""Fewest bytes of a context that does not repeat by chance, as short sentences do."""

_WIDER = 3
"""Factor by which the scales of aspects under one rule may differ."""

_SOME = 0.05
_LEAST = 20


def check_repeats(case: Case) -> Check:
    """Check for pairs in both directions, contexts with several ids, systems with two names."""
    remedy = (
        "give candidates that were judged apart a `group`, each context one context_id "
        "(--context-id), and each system one name; state under `limitations` what remains"
    )
    fine = "each pair has one direction, each context one context_id, and each system one name"
    across = case.found(lambda one: _both_ways(one, is_odd=False))
    found = case.found(lambda one: (*_both_ways(one, is_odd=True), *_doubles(one)))
    more = f" (as people disagree: {listed(across)})" if across else ""
    return judged(REPEATS, "review", found, remedy, f"{fine}{more}")


def _both_ways(result: Result, *, is_odd: bool) -> Iterator[str]:
    """Yield the number of reversed pairs, if they are many or within one group."""
    n, within = _reversed(result.made.pairs)
    if (n or within) and is_odd == bool(within or n > _SOME * result.made.pairs.height):
        yield f"{within or n:,} pairs and their reverse{' within one group' if within else ''}"


def _reversed(pairs: pl.DataFrame) -> tuple[int, int]:
    """Return the numbers of reversed tests by texts, and by ids within a group.

    Within a group, a single judgement contradicts itself.
    """

    def count(sides: list[str], *known: str) -> int:
        tests = pairs.select(*CONTEXT, "aspect", *known, *sides).unique()
        turned = tests.rename(dict(zip(sides, sides[::-1], strict=True)))
        return tests.join(turned, on=tests.columns, how="semi", nulls_equal=True).height // 2

    return count(["candidate_high", "candidate_low"]), count(["high_id", "low_id"], "group")


def _doubles(result: Result) -> Iterator[str]:
    contexts = result.annotations.select(*CONTEXT, text=fold(pl.col("context"))).unique()
    contexts = contexts.filter(pl.col("text").str.len_bytes() >= _LONG)
    ids = contexts.group_by("split", "text").agg(pl.col("context_id").n_unique())
    several = ids.filter(pl.col("context_id") > 1).height
    if several > _FEW * ids.height:
        yield f"{several:,} of {ids.height:,} contexts have several context_ids"
    names = defaultdict[str, list[str]](list)
    for name in result.annotations["system"].drop_nulls().str.split("|").explode().unique().sort():
        names[re.sub(r"\s+", "", name)].append(name)
    for same in names.values():
        if len(same) > 1:
            yield f"systems that differ only by blanks: {listed([repr(name) for name in same])}"


def check_scales(case: Case) -> Check:
    """Check that the numbers of an aspect, and of aspects under one rule, are on one scale."""
    remedy = "convert them to one scale, or give each aspect its own rule (`quality.aspects`)"
    found = case.found(_mixed_scales)
    return judged(
        SCALES, "review", found, remedy, "scores that are compared have one scale", most=3
    )


def _mixed_scales(result: Result) -> Iterator[str]:
    numbers = pl.coalesce(pl.col("ratings"), pl.col("score").reshape((-1, 1)).arr.to_list())
    rows = result.annotations.select("aspect", "split", "category", value=numbers)
    rows = rows.explode("value").drop_nulls("value")
    scales = {aspect: own["value"] for (aspect,), own in rows.group_by("aspect")}
    rules = result.source.facts["quality"].get("aspects", {})
    ends = {name: (min(own), max(own)) for name, own in scales.items() if name not in rules}
    widths = [highest - lowest for lowest, highest in ends.values()]
    if widths and max(widths) > _WIDER * min(widths) > 0:
        ranges = [f"{name} {ends[name][0]:g} to {ends[name][1]:g}" for name in sorted(ends)]
        yield f"one rule for scales of different widths: {listed(ranges)}"
    for aspect, values in scales.items():
        tops = _tops(rows.filter(pl.col("aspect") == aspect))
        if _is_mixed(values) or min(tops, default=1) <= 1 < _WIDER < max(tops, default=1):
            yield f"{aspect} has both numbers from 0 to 1 and larger ones"


def _tops(rows: pl.DataFrame) -> list[float]:
    """Return the highest number of each split and category with numbers."""
    groups = rows.group_by("split", "category").agg(pl.len(), pl.col("value").max())
    return groups.filter(pl.col("len") >= _LEAST)["value"].to_list()


def _is_mixed(values: pl.Series) -> bool:
    """Say whether there are shares and whole numbers above 1, and no other numbers."""
    shares, above = values.filter((values > 0) & (values < 1)), values.filter(values > 1)
    is_whole = bool((above % 1 == 0).all())
    return is_whole and min(len(shares), len(above)) >= _SOME * len(values)
