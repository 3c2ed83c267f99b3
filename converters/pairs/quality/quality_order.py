"""Quality as a partial order: which of two candidates is better, if this is known.

Laban et al. 2022, § 2.1. A rule compares the annotated candidates of one context under one aspect.
It ranks one above the other only if the annotations do; all others are incomparable and make no
pair.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Literal, NamedTuple

import polars as pl

from nnd.schemas import (
    Credit,
    Gap,
    Majority,
    NoError,
    Order,
    Rule,
    Rules,
    close_order,
    listed_numbers,
    readable,
    used_column,
)

GROUP = ("split", "context_id", "aspect", "group")
"""Candidates are compared within one context, aspect and group; no group (null) is one, too."""

_CANDIDATE = (*GROUP, "candidate_id")
_COLUMNS = (*GROUP, "high_id", "low_id", "label_high", "error_category", "margin")


class DropReason(NamedTuple):
    """A reason why something made no pair, and how often it applied.

    Attributes:
        reason: Short name, the key in the manifest.
        what: What was counted.
        n: How many.
        why: A sentence for the card.
    """

    reason: str
    what: Literal["annotations", "candidates", "contexts", "pairs"]
    n: int
    why: str


class KnownOrder(NamedTuple):
    """The comparisons that the rules derive from annotations, and what the rules could not use.

    The frame has one row per high candidate, low candidate and error category: split, context_id,
    aspect, group, high_id, low_id, label_high, error_category, margin.
    """

    frame: pl.DataFrame
    dropped: list[DropReason]


def compare(annotations: pl.DataFrame, rules: Rule | Rules) -> KnownOrder:
    """Return which candidates are better than which others.

    There is at most one annotation per candidate, aspect, group and label.
    """
    if not isinstance(rules, Rules):
        rules = Rules(rules, {})
    found = [_compare(rows, rule) for rule, rows in rules.divide(annotations)]
    counts = Counter[DropReason]()
    for reason in chain.from_iterable(order.dropped for order in found):
        counts[reason._replace(n=0)] += reason.n
    frame = pl.concat(order.frame for order in found)
    return KnownOrder(frame, [reason._replace(n=n) for reason, n in counts.items()])


_NUMBERS = "use `rule: gap` with a `minimum`"
_READ_INSTEAD = {
    ("score", "ratings"): "add `ratings: mean` to the rule under `quality`",
    ("score", "label"): "use `rule: no_error`, or name a column of numbers under `scores`",
    ("ratings", "score"): f"{_NUMBERS} and without `ratings`",
    ("ratings", "label"): "use `rule: no_error`, or name columns of numbers under `ratings`",
    ("label", "score"): _NUMBERS,
    ("label", "ratings"): f"{_NUMBERS} and with `ratings: mean`",
}
"""What a rule reads, and what annotations have instead → the remedy."""


def unread_values(annotations: pl.DataFrame, rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield what a rule reads and no annotation of its aspects has, with a remedy."""
    for rule, rows in rules.divide(annotations):
        needed = used_column(rule)
        counts = {name: rows[name].drop_nulls().len() for name in ("label", "score", "ratings")}
        there = [name for name, n in counts.items() if n and (needed, name) in _READ_INSTEAD]
        if rows.height and there and not counts[needed]:
            what = f"`quality` reads the {needed}, and the annotations have the {there[-1]}"
            yield what, _READ_INSTEAD[needed, there[-1]]


def _compare(annotations: pl.DataFrame, rule: Rule) -> KnownOrder:
    used = readable(annotations, rule)
    match rule:
        case NoError():
            found = _compare_no_error(used, rule)
        case Majority():
            found = _compare_majority(used, rule)
        case Credit():
            found = _compare_credit(used, rule)
        case Gap(within=None):
            pairs = _pair(_high(used), _low(used))
            enough = pl.col("margin") >= rule.minimum - rule.tolerance
            found = KnownOrder(pairs.filter(enough), [])
        case Gap():
            found = _compare_within(used, rule)
        case Order():
            found = _compare_order(used, rule)
    return KnownOrder(found.frame, _unread(annotations, used, rule) + found.dropped)


def _unread(annotations: pl.DataFrame, used: pl.DataFrame, rule: Rule) -> list[DropReason]:
    """Count the annotations without a value that the rule reads, and those with too few ratings."""
    column = used_column(rule)
    value = pl.col(column)
    has_value = value.list.len() > 0 if column == "ratings" else value.is_not_null()
    n_valued = annotations.filter(has_value).height
    why = f"the rule reads the {column}, which is missing"
    dropped = [DropReason("unlabelled", "annotations", annotations.height - n_valued, why)]
    if isinstance(rule, Majority | Credit | Gap):
        why = f"the rule asks for at least {rule.at_least} ratings, and fewer count"
        dropped.append(DropReason("few_ratings", "annotations", n_valued - used.height, why))
    return dropped


def _compare_no_error(used: pl.DataFrame, rule: NoError) -> KnownOrder:
    clean = pl.col("label") == rule.no_error
    right, wrong = used.filter(clean), used.filter(~clean)
    mixed = right.join(wrong, on=_CANDIDATE, how="semi", nulls_equal=True).select(_CANDIDATE)
    right, wrong = (
        rows.join(mixed, on=_CANDIDATE, how="anti", nulls_equal=True, maintain_order="left")
        for rows in (right, wrong)
    )
    why = f'labelled both "{rule.no_error}" and with an error'
    contradictory = DropReason("contradictory", "candidates", mixed.n_unique(), why)
    return KnownOrder(_pair(_high(right, "label"), _low(wrong, "label")), [contradictory])


def _compare_majority(used: pl.DataFrame, rule: Majority) -> KnownOrder:
    good = pl.col("ratings").list.eval(pl.element() >= rule.top).list.sum()
    total = pl.col("ratings").list.len()
    if rule.ratings == "majority":
        clean = good * 2 > total
        return KnownOrder(_pair(_high(used.filter(clean)), _low(used.filter(~clean))), [])
    divided = used.filter((good > 0) & (good < total)).height
    why = f"some annotators gave {rule.top:g} or more, and others less"
    frame = _pair(_high(used.filter(good == total)), _low(used.filter(good == 0)))
    return KnownOrder(frame, [DropReason("divided", "annotations", divided, why)])


def _compare_credit(used: pl.DataFrame, rule: Credit) -> KnownOrder:
    high, low = (
        pl.col("score").is_in([float(value) for value in named]) for named in (rule.high, rule.low)
    )
    between = used.filter(~high & ~low).height
    high_ones, low_ones = listed_numbers(rule.high), listed_numbers(rule.low)
    why = f"the score is neither high ({high_ones}) nor low ({low_ones})"
    frame = _pair(_high(used.filter(high)), _low(used.filter(low)))
    return KnownOrder(frame, [DropReason("between", "annotations", between, why)])


def _compare_within(used: pl.DataFrame, rule: Gap) -> KnownOrder:
    """Compare two candidates by the rating differences of the annotators who rated both."""
    rated = (
        used.filter(pl.col("annotators").is_not_null())
        .select(*_CANDIDATE, "annotators", rating="ratings")
        .explode("annotators", "rating")
        .group_by(*_CANDIDATE, "annotators", maintain_order=True)
        .agg(pl.col("rating").mean())  # if an annotator rated a candidate twice
    )
    difference = pl.col("rating") - pl.col("rating_low")
    enough = difference >= rule.minimum - rule.tolerance
    middle = difference.median() if rule.ratings == "median" else difference.mean()
    is_better = {
        "majority": enough.sum() * 2 > pl.len(),
        "unanimity": enough.all(),
    }.get(str(rule.ratings), middle >= rule.minimum - rule.tolerance)
    frame = (
        rated.join(rated, on=[*GROUP, "annotators"], suffix="_low", nulls_equal=True)
        .filter(pl.col("candidate_id") != pl.col("candidate_id_low"))
        .group_by(*GROUP, high_id="candidate_id", low_id="candidate_id_low", maintain_order=True)
        .agg(margin=middle, is_better=is_better & (pl.len() >= rule.at_least))
        .filter("is_better")
        .with_columns(label_high=pl.lit(None, pl.String), error_category="aspect")
        .select(_COLUMNS)
    )
    return KnownOrder(frame, [])


def _compare_order(used: pl.DataFrame, rule: Order) -> KnownOrder:
    columns = {"better": pl.String, "worse": pl.String}
    order = pl.DataFrame(sorted(close_order(rule.better)), columns, orient="row")
    # A candidate is compared by its worst labels: no other label of it is worse.
    outdone = used.join(order, left_on="label", right_on="worse").select(
        *_CANDIDATE, label="better"
    )
    worst = used.join(outdone, on=[*_CANDIDATE, "label"], how="anti", nulls_equal=True)
    one_worst = pl.len().over(_CANDIDATE) == 1
    highs = _high(worst.filter(one_worst), "label").join(
        order.rename({"better": "label_high", "worse": "error_category"}), on="label_high"
    )
    frame = _pair(highs, _low(worst, "label"), on=(*GROUP, "error_category"))
    ambiguous = worst.filter(~one_worst).select(_CANDIDATE).unique().height
    why = "several labels, none of them the worst: never the better candidate"
    return KnownOrder(frame, [DropReason("ambiguous", "candidates", ambiguous, why)])


def _high(rows: pl.DataFrame, label: str | None = None) -> pl.DataFrame:
    label_high = pl.lit(None, pl.String) if label is None else pl.col(label)
    return rows.select(
        *GROUP, high_id="candidate_id", label_high=label_high, score_high="score"
    ).unique()


def _low(rows: pl.DataFrame, label: str = "aspect") -> pl.DataFrame:
    """Return the worse candidates; rules without labels use the aspect as the error category."""
    return rows.select(
        *GROUP, low_id="candidate_id", error_category=label, score_low="score"
    ).unique()


def _pair(highs: pl.DataFrame, lows: pl.DataFrame, on: tuple[str, ...] = GROUP) -> pl.DataFrame:
    pairs = highs.join(lows, on=on, nulls_equal=True)
    return pairs.with_columns(margin=pl.col("score_high") - pl.col("score_low")).select(_COLUMNS)
