"""The quality rules, their options, and the columns that they read.

A rule that reads ratings has options that say how:

- `ratings`: how the ratings of several annotators become one verdict. `mean` and `median` turn a
  candidate's ratings into one number; `majority` and `unanimity` count annotators.
- `at_least`: a candidate with fewer ratings is omitted.
- `standardise: annotator`: ratings count as z-scores of their annotator (see `read_ratings`).
- `within: annotator`: two candidates are compared by the annotators who rated both.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from nnd.schemas.words.errors import SourceError


def rule_of(quality: Mapping[str, Any], aspect: str) -> Mapping[str, Any]:
    """Return the rule of an aspect."""
    if "rule" in quality:
        return quality
    own: Mapping[str, Any] = quality["aspects"].get(aspect, quality["default"])
    return own


def read_ratings(
    annotations: pl.DataFrame, *, at_least: int = 1, standardise: bool = False
) -> pl.DataFrame:
    """Return the annotations with at least `at_least` ratings, standardised if requested.

    Standardised, each rating r becomes its z-score (r - m) / s. Here m and s are the mean and the
    standard deviation (divisor n - 1) of all ratings of that annotator under that aspect. If s is 0
    or not defined there is no z-score, and the rating is omitted, as is one without an annotator.
    """
    rows = _standardised(annotations) if standardise else annotations
    return rows.filter(pl.col("ratings").list.len() >= max(at_least, 1))


def _standardised(annotations: pl.DataFrame) -> pl.DataFrame:
    rows = annotations.with_row_index("row")
    rating, by = pl.col("ratings"), ("aspect", "annotators")
    z_scores = (
        rows.select("row", *by, "ratings")
        .filter((rating.list.len() > 0) & pl.col("annotators").is_not_null())
        .explode("annotators", "ratings")
        .filter(rating.max().over(by) > rating.min().over(by))
        .with_columns((rating - rating.mean().over(by)) / rating.std().over(by))
        .group_by("row", maintain_order=True)
        .agg("annotators", "ratings")
    )
    others = rows.drop("annotators", "ratings")
    return others.join(z_scores, on="row", how="left", maintain_order="left").select(
        annotations.columns
    )


@dataclass(frozen=True, slots=True)
class NoError:
    """The no-error label beats every other label; two errors are incomparable."""

    no_error: str


@dataclass(frozen=True, slots=True)
class Majority:
    """A strict majority of ratings at `top` or above beats no such majority.

    With `ratings: unanimity`, all ratings at `top` or above beat all ratings below; candidates
    whose annotators disagree are not compared.
    """

    top: float
    ratings: Literal["majority", "unanimity"] = "majority"
    at_least: int = 1
    standardise: Literal["annotator"] | None = None


@dataclass(frozen=True, slots=True)
class Credit:
    """A score named in `high` beats a score named in `low`; others are dropped.

    With `ratings`, the mean or median of a candidate's ratings takes the place of its score.
    """

    high: tuple[float, ...]
    low: tuple[float, ...]
    ratings: Literal["mean", "median"] | None = None
    at_least: int = 1

    def __post_init__(self) -> None:
        both = set(self.high) & set(self.low)
        if both:
            raise SourceError(
                "source.quality-rule",
                f"{listed_numbers(sorted(both))} is both high and low",
                "quality",
            )


@dataclass(frozen=True, slots=True)
class Gap:
    """A score at least `minimum` higher is better, compared up to `tolerance`.

    With `ratings`, the mean or median of a candidate's ratings takes the place of its score. With
    `within: annotator` the differences are taken within each annotator who rated both candidates,
    of whom there must be at least `at_least`: their mean or median must reach the minimum, or the
    differences of more than half of them (`majority`), or of all (`unanimity`).
    """

    minimum: float
    tolerance: float = 1e-6
    ratings: Literal["mean", "median", "majority", "unanimity"] | None = None
    at_least: int = 1
    standardise: Literal["annotator"] | None = None
    within: Literal["annotator"] | None = None

    def __post_init__(self) -> None:
        if self.tolerance >= self.minimum:
            raise SourceError(
                "source.quality-rule",
                f"tolerance {self.tolerance:g} is not below minimum {self.minimum:g}, so "
                "that equal scores would make pairs",
                "quality",
                "give a smaller tolerance",
            )
        if self.ratings in ("majority", "unanimity") and self.within is None:
            raise SourceError(
                "source.quality-rule",
                f"`ratings: {self.ratings}` of a gap counts the annotators who rated both "
                "candidates",
                "quality",
                "add `within: annotator`, or take the mean or median",
            )


@dataclass(frozen=True, slots=True)
class Order:
    """Labels ordered by (better, worse), transitively; a candidate counts by its worst label."""

    better: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        close_order(self.better)


Rule: TypeAlias = NoError | Majority | Credit | Gap | Order

_RULES: dict[str, type[Rule]] = {
    "no_error": NoError,
    "majority": Majority,
    "credit": Credit,
    "gap": Gap,
    "order": Order,
}


_TEXTS = ("context", "inputs", "candidate", "metadata")


@dataclass(frozen=True, slots=True)
class Rules:
    """The rule of every aspect: its own, or else the default."""

    default: Rule
    aspects: Mapping[str, Rule]

    def divide(self, annotations: pl.DataFrame) -> Iterator[tuple[Rule, pl.DataFrame]]:
        """Yield each rule that is used, with the annotations of its aspects, without their texts.

        Rules do not read the texts, and each step would copy them.
        """
        annotations = annotations.drop(_TEXTS, strict=False)
        by_rule: dict[Rule, list[str]] = {}
        for aspect in annotations["aspect"].unique().sort():
            by_rule.setdefault(self.aspects.get(aspect, self.default), []).append(aspect)
        if len(by_rule) < 2:  # noqa: PLR2004 - all rows at once, without a copy of them
            yield next(iter(by_rule), self.default), annotations
            return
        for rule, aspects in by_rule.items():
            yield rule, annotations.filter(pl.col("aspect").is_in(aspects))


def read_rules(quality: Mapping[str, Any]) -> Rules:
    """Return the rules that the `quality` section of a source.yaml describes."""
    if "rule" in quality:
        return Rules(_read_rule(quality), {})
    aspects = {name: _read_rule(own) for name, own in quality["aspects"].items()}
    return Rules(_read_rule(quality["default"]), aspects)


def _read_rule(quality: Mapping[str, Any]) -> Rule:
    kind = _RULES[quality["rule"]]
    parameters = {name: _frozen(value) for name, value in quality.items() if name != "rule"}
    return kind(**parameters)


def _frozen(value: Any) -> Any:  # noqa: ANN401 - a YAML value may be anything
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def used_column(rule: Rule) -> Literal["label", "score", "ratings"]:
    """Return the annotation column that `rule` reads."""
    match rule:
        case NoError() | Order():
            return "label"
        case Credit(ratings=None) | Gap(ratings=None):
            return "score"
    return "ratings"


def needs_annotators(rule: Rule) -> bool:
    """Say whether `rule` must know who gave each rating."""
    options = (getattr(rule, name, None) for name in ("standardise", "within"))
    return "annotator" in options


def labels_of(rule: Rule) -> set[str] | None:
    """Return the labels that `rule` names, or None if it reads no labels."""
    match rule:
        case NoError(no_error):
            return {no_error}
        case Order(better):
            return {label for pair in better for label in pair}
    return None


def readable(annotations: pl.DataFrame, rule: Rule) -> pl.DataFrame:
    """Return the annotations with a value that `rule` reads, in the form in which it reads it.

    Ratings are standardised if the rule requires it, and their mean or median becomes the score if
    the rule compares scores. Annotations without ratings are omitted.
    """
    match rule:
        case Majority():
            return _rated(annotations, rule)
        case Credit() | Gap() if rule.ratings:
            ratings = pl.col("ratings").list
            score = ratings.median() if rule.ratings == "median" else ratings.mean()
            return _rated(annotations, rule).with_columns(score=score)
    return annotations.filter(pl.col(used_column(rule)).is_not_null())


def _rated(annotations: pl.DataFrame, rule: Majority | Credit | Gap) -> pl.DataFrame:
    standardise = not isinstance(rule, Credit) and rule.standardise is not None
    return read_ratings(annotations, at_least=rule.at_least, standardise=standardise)


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
            "source.quality-rule",
            f"the order runs in a circle through {', '.join(circle)}",
            "quality",
            "remove one of its (better, worse) entries",
        )
    return closure


def listed_numbers(values: Iterable[float]) -> str:
    """Return numbers in a list for a message."""
    return ", ".join(f"{value:g}" for value in values)
