"""Quality as a partial order: which of two candidates is better, where it is known.

Laban et al. 2022, § 2.1. A rule compares the annotated candidates of one context under one aspect.
It says that one is higher than the other only where the annotations do; everything else stays
incomparable and makes no pair.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from nnd.schemas import SourceError

GROUP = ("split", "context_id", "aspect", "group")
"""Candidates are compared within one context, aspect and group; no group (null) is one, too."""

_CANDIDATE = (*GROUP, "candidate_id")


@dataclass(frozen=True, slots=True)
class NoError:
    """The no-error label beats every other label; two errors are incomparable."""

    no_error: str


@dataclass(frozen=True, slots=True)
class Majority:
    """A strict majority of ratings at `top` or above beats no such majority."""

    top: float


@dataclass(frozen=True, slots=True)
class Credit:
    """A score named in `high` beats a score named in `low`; others are dropped."""

    high: tuple[float, ...]
    low: tuple[float, ...]

    def __post_init__(self) -> None:
        both = set(self.high) & set(self.low)
        if both:
            raise SourceError(f"quality: {_listed(sorted(both))} is both high and low; choose one")


@dataclass(frozen=True, slots=True)
class Gap:
    """A score at least `minimum` higher is better, compared up to `tolerance`."""

    minimum: float
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if self.tolerance >= self.minimum:
            raise SourceError(
                f"quality: tolerance {self.tolerance:g} is not below minimum {self.minimum:g}, so "
                "that equal scores would make pairs; give a smaller tolerance"
            )


@dataclass(frozen=True, slots=True)
class Order:
    """Labels by a list of (better, worse), transitively closed; a candidate counts by its worst."""

    better: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        close_order(self.better)


Rule: TypeAlias = NoError | Majority | Credit | Gap | Order

RULES: dict[str, type[Rule]] = {
    "no_error": NoError,
    "majority": Majority,
    "credit": Credit,
    "gap": Gap,
    "order": Order,
}


class Dropped(NamedTuple):
    """A reason why something made no pair, what it was, and how many.

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


class Comparisons(NamedTuple):
    """What a rule says about the annotations of a source.

    Attributes:
        frame: One row per high candidate, low candidate and error category: split, context_id,
            aspect, group, high_id, low_id, label_high, error_category, margin.
        dropped: What the rule could not use.
    """

    frame: pl.DataFrame
    dropped: list[Dropped]


def read_rule(quality: Mapping[str, Any]) -> Rule:
    """Return the rule that the `quality` section of a source.yaml describes.

    Raises:
        SourceError: If it contradicts itself.
    """
    kind = RULES[quality["rule"]]
    parameters = {name: _frozen(value) for name, value in quality.items() if name != "rule"}
    return kind(**parameters)


def _frozen(value: Any) -> Any:  # noqa: ANN401 - a YAML value may be anything
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def compare(annotations: pl.DataFrame, rule: Rule) -> Comparisons:
    """Say which candidates are better than which, by `rule`.

    Args:
        annotations: Rows of the annotation schema; at most one per candidate, aspect, group and
            label.
        rule: The quality rule.
    """
    used = readable(annotations, rule)
    dropped = [
        Dropped(
            "unlabelled",
            "annotations",
            annotations.height - used.height,
            f"the rule reads the {used_column(rule)}, and there is none",
        )
    ]
    match rule:
        case NoError():
            found = _compare_no_error(used, rule)
        case Majority():
            found = _compare_majority(used, rule)
        case Credit():
            found = _compare_credit(used, rule)
        case Gap():
            found = _compare_gap(used, rule)
        case Order():
            found = _compare_order(used, rule)
    return Comparisons(found.frame, dropped + found.dropped)


def readable(annotations: pl.DataFrame, rule: Rule) -> pl.DataFrame:
    """Return the annotations that have what `rule` reads; no rating at all is nothing to read."""
    column = pl.col(used_column(rule))
    is_there = column.list.len() > 0 if isinstance(rule, Majority) else column.is_not_null()
    return annotations.filter(is_there)


def used_column(rule: Rule) -> str:
    """Return the annotation column that `rule` reads: label, score or ratings."""
    match rule:
        case NoError() | Order():
            return "label"
        case Credit() | Gap():
            return "score"
        case Majority():
            return "ratings"


def _compare_no_error(used: pl.DataFrame, rule: NoError) -> Comparisons:
    clean = pl.col("label") == rule.no_error
    mixed = clean.any().over(_CANDIDATE) & (~clean).any().over(_CANDIDATE)
    contradictory = used.filter(mixed).select(_CANDIDATE).unique().height
    clear = used.filter(~mixed)
    frame = _pair(_high(clear.filter(clean), "label"), _low(clear.filter(~clean), "label"))
    why = f'labelled both "{rule.no_error}" and with an error'
    return Comparisons(frame, [Dropped("contradictory", "candidates", contradictory, why)])


def _compare_majority(used: pl.DataFrame, rule: Majority) -> Comparisons:
    votes = pl.col("ratings").list.eval(pl.element() >= rule.top).list.sum()
    clean = votes * 2 > pl.col("ratings").list.len()
    return Comparisons(_pair(_high(used.filter(clean)), _low(used.filter(~clean))), [])


def _compare_credit(used: pl.DataFrame, rule: Credit) -> Comparisons:
    high, low = (
        pl.col("score").is_in([float(value) for value in named]) for named in (rule.high, rule.low)
    )
    between = used.filter(~high & ~low).height
    why = f"the score is neither high ({_listed(rule.high)}) nor low ({_listed(rule.low)})"
    frame = _pair(_high(used.filter(high)), _low(used.filter(low)))
    return Comparisons(frame, [Dropped("between", "annotations", between, why)])


def _compare_gap(used: pl.DataFrame, rule: Gap) -> Comparisons:
    frame = _pair(_high(used), _low(used))
    return Comparisons(frame.filter(pl.col("margin") >= rule.minimum - rule.tolerance), [])


def _compare_order(used: pl.DataFrame, rule: Order) -> Comparisons:
    columns = {"better": pl.String, "worse": pl.String}
    order = pl.DataFrame(sorted(close_order(rule.better)), columns, orient="row")
    # A candidate counts by its worst labels: those below which it has no other.
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
    return Comparisons(frame, [Dropped("ambiguous", "candidates", ambiguous, why)])


def close_order(better: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the transitive closure of a list of (better, worse) labels.

    Raises:
        SourceError: If a label would be better than itself.
    """
    closure = set(better)
    while True:
        implied = {(a, d) for a, b in closure for c, d in closure if b == c} - closure
        if not implied:
            break
        closure |= implied
    circle = sorted({a for a, b in closure if a == b})
    if circle:
        raise SourceError(
            f"quality: the order runs in a circle through {', '.join(circle)}; "
            "remove one of its (better, worse) entries"
        )
    return closure


def _high(rows: pl.DataFrame, label: str | None = None) -> pl.DataFrame:
    label_high = pl.lit(None, pl.String) if label is None else pl.col(label)
    return rows.select(
        *GROUP, high_id="candidate_id", label_high=label_high, score_high="score"
    ).unique()


def _low(rows: pl.DataFrame, label: str = "aspect") -> pl.DataFrame:
    """Rules without error labels use the aspect as the error category."""
    return rows.select(
        *GROUP, low_id="candidate_id", error_category=label, score_low="score"
    ).unique()


def _pair(highs: pl.DataFrame, lows: pl.DataFrame, on: tuple[str, ...] = GROUP) -> pl.DataFrame:
    return highs.join(lows, on=on, nulls_equal=True).select(
        *GROUP,
        "high_id",
        "low_id",
        "label_high",
        "error_category",
        margin=pl.col("score_high") - pl.col("score_low"),
    )


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
