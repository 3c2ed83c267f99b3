"""Check of which way quality runs: what names in a file say of the texts that come out better."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean
from typing import Any

import polars as pl

from nnd.converters.check_source.case import Case, Result
from nnd.converters.check_source.columns import Column
from nnd.converters.check_source.knockouts import families_of
from nnd.converters.check_source.outcome import AT_HAND, Check, listed
from nnd.schemas import DISTINCT

DIRECTION = "direction"


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PEOPLE = _set("expert gold golden human humans original ref reference references truth")
_GOOD = _PEOPLE | _set("accepted best better chosen correct good preferred winner winning")
_BAD = _set(
    "adversarial altered bad corrupted edited hallucinated incorrect loser losing perturbed pert "
    "rejected worse worst wrong"
)
_WORSE_THE_MORE = _BAD | _set(
    "defects distance edits errors error faults mistakes penalty rank ranking severity toxicity "
    "violations"
)
_NOTHING_WRONG = (
    *("accurate", "better", "consistent", "correct", "factual", "faithful", "fine", "good"),
    *("no", "no error", "no errors", "no issue", "no issues", "noe", "ok", "supported"),
)
_CHOICES = _set("answer best better choice chosen label preference preferred winner")
_LEAST = 2
_MOST_VALUES = 12
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def check_direction(case: Case) -> Check:
    """Check that what is called human, reference, best or no error does not come out worse."""
    if not case.measured:
        return Check(DIRECTION, "skipped", "the real files are not at hand", AT_HAND)
    found = [
        f"{one.label}: {what}"
        for one in case.measured
        if one.conversion is not None
        for what in _doubts(case, one, one.conversion.pairs)
    ]
    if found:
        remedy = (
            "look at some pairs; if they are the wrong way round, turn `quality` or the columns"
        )
        return Check(DIRECTION, "review", listed(list(dict.fromkeys(found)), 3), remedy)
    return Check(DIRECTION, "pass", "no name says that the worse texts are the better ones")


def _doubts(case: Case, result: Result, pairs: pl.DataFrame) -> Iterator[str]:
    yield from _of_rules(result)
    yield from _of_labels(pairs)
    wins = _win_shares(pairs)
    yield from _of_systems(wins)
    tests = pairs.unique(DISTINCT)
    high, low = set(tests["candidate_high"]), set(tests["candidate_low"])
    scores = _mean_scores(result.annotations)
    for family in families_of(case.contents([result])):
        columns = [*family.columns.values()]
        for column in columns:
            yield from _of_name(column, high - low, low - high, wins)
            yield from _of_numbers(column, scores)
        yield from _of_choices(columns, high - low, low - high)


def _of_rules(result: Result) -> Iterator[str]:
    """Yield rules whose numbers say that less is better."""
    rules = result.source.facts["quality"]
    for aspect, rule in {"": rules, **rules.get("aspects", {})}.items():
        name = f"{aspect}: " if aspect else ""
        if rule.get("rule") == "credit" and min(rule["high"]) < max(rule.get("low", rule["high"])):
            yield f"{name}a credit of {min(rule['high']):g} is high and {max(rule['low']):g} is low"
        ratings: list[float] = result.annotations["ratings"].explode().drop_nulls().to_list()
        if rule.get("rule") == "majority" and ratings:
            lowest, highest = min(ratings), max(ratings)
            if 2 * rule["top"] < lowest + highest:
                yield f"{name}the top rating {rule['top']:g} is low, of {lowest:g} to {highest:g}"


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _of_labels(pairs: pl.DataFrame) -> Iterator[str]:
    """Yield labels of worse candidates that say that nothing is wrong."""
    for label in pairs["error_category"].unique():
        if " ".join(_words(label)) in _NOTHING_WRONG and label not in {*pairs["aspect"].unique()}:
            yield f'candidates labelled "{label}" are the worse ones'


def _win_shares(pairs: pl.DataFrame) -> dict[str, float]:
    """Return system → the share of its tests in which its candidate is the better one."""
    tests = pairs.unique(DISTINCT)
    sides = [
        tests.select(pl.col(f"system_{side}").str.split("|").alias("system"), won=pl.lit(won))
        for side, won in (("high", 1.0), ("low", 0.0))
    ]
    shares = pl.concat(sides).explode("system").drop_nulls().group_by("system").mean()
    return dict(shares.rows())


def _of_systems(wins: Mapping[str, float]) -> Iterator[str]:
    people = [name for name in wins if _PEOPLE & {*_words(name)}]
    worst = min(wins, key=wins.__getitem__, default=None)
    if len(wins) > 1 and worst in people:
        yield f"{worst} comes out worst of {len(wins)} systems"


def _of_name(
    column: Column, better: set[str], worse: set[str], wins: Mapping[str, float]
) -> Iterator[str]:
    """Yield a column named as good (or bad) whose texts, or systems, are the worse (better)."""
    words = {*_words(column.path[-1] if column.path[-1] != "*" else column.name)}
    says = bool(words & _GOOD) - bool(words & _BAD)
    if not says:
        return
    texts = {*column.texts}
    right, wrong = len(texts & better), len(texts & worse)
    if says < 0:
        right, wrong = wrong, right
    if right + wrong >= _LEAST and wrong > right:
        n = f"{wrong:,} of {right + wrong:,}"
        yield f"texts of {column.name} are the {'worse' if says > 0 else 'better'} ones in {n}"
    named = [name for name in column.texts if name in wins]
    if len(wins) > 1 and 2 * len(named) > len(column.texts):
        counts = Counter(named)
        share = [counts[name] / len(named) for name in wins]
        if says * _covariance(share, list(wins.values())) < 0:
            yield f"systems named in {column.name} come out {'worse' if says > 0 else 'better'}"


def _covariance(these: Iterable[float], those: Iterable[float]) -> float:
    pairs = list(zip(these, those, strict=True))
    mean, other = (fmean(side) for side in zip(*pairs, strict=True))
    return fmean((one - mean) * (two - other) for one, two in pairs)


def _mean_scores(annotations: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Return aspect → candidate → the mean of its scores, or of its ratings."""
    score = pl.coalesce(pl.col("score"), pl.col("ratings").list.mean())
    means = (
        annotations.group_by("aspect", "candidate").agg(score.mean().alias("score")).drop_nulls()
    )
    found = defaultdict[str, dict[str, float]](dict)
    for aspect, candidate, mean in means.rows():
        found[aspect][candidate] = mean
    return found


def _of_numbers(column: Column, scores: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield a column named like an aspect that the scores of the aspect run against."""
    words = {*_words(column.path[-1])}
    for aspect, means in scores.items():
        is_so_named = {*_words(aspect)} <= words or (
            len(scores) == 1 and words & {"score", "rating"}
        )
        if not is_so_named or words & _WORSE_THE_MORE:
            continue
        both = [
            (float(slot.value), means[text])
            for slot in column.slots
            if isinstance(slot.holder, dict) and _spells(slot.value)
            for text in slot.holder.values()
            if isinstance(text, str) and text in means
        ]
        if len(both) >= _LEAST and _covariance(*zip(*both, strict=True)) < 0:
            yield f"scores of {aspect} fall where {column.name} rises"


def _spells(value: Any) -> bool:  # noqa: ANN401 - a JSON value may be anything
    try:
        return not isinstance(value, bool) and float(value) == float(value)
    except (TypeError, ValueError):
        return False


def _side(name: object) -> str:
    """Return what a name says of a side: the 1 of `output_1`, the a of `Model A`."""
    return (_words(str(name)) or [""])[-1]


def _of_choices(columns: list[Column], better: set[str], worse: set[str]) -> Iterator[str]:
    """Yield a column that names the better of two texts, as `label: 1`, where it is the worse."""
    for column in columns:
        values = {_side(value) for value in column.values}
        if not _CHOICES & {*_words(column.path[-1])} or not 1 < len(values) <= _MOST_VALUES:
            continue
        beside = {
            side: one.path[-1]
            for one in columns
            if one.path[:-1] == column.path[:-1] and one is not column
            if (side := _side(one.path[-1])) in values
        }
        if len(beside) > 1:
            chosen = [slot.holder.get(beside.get(_side(slot.value))) for slot in column.slots]
            yield from _chosen(column, chosen, better, worse)


def _chosen(column: Column, chosen: list[Any], better: set[str], worse: set[str]) -> Iterator[str]:
    right, wrong = (sum(text in side for text in chosen) for side in (better, worse))
    if right + wrong >= _LEAST and wrong > right:
        yield f"what {column.name} names is the worse one in {wrong:,} of {right + wrong:,}"
