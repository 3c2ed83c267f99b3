"""Surprise at marked errors: is a model less sure of the tokens that people marked?

The surprisal of a token is -log P. Within a candidate, the AUC is the share of pairs of a token
inside its spans and a token outside in which the one inside is more surprising; equal ones count
half. It is 0.5 for a model that knows nothing of the error, whatever the length or the difficulty
of the text. Under a category or a severity, tokens in the other spans of the candidate are left
out. Each candidate counts once; means have intervals over contexts, or over clusters of them
(`cluster_intervals`).

Rare words surprise any model. The control is therefore the same number for the better candidate:
for its words that stand where the marked ones stand (`words_opposite`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import polars as pl

from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.rates.cluster_words import Levels, few_clusters, levels_in, noun_of
from nnd.metric.numbers.rates.context_sums import CLUSTER
from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.intervals import ONE_CONTEXT, Interval
from nnd.metric.numbers.statistics.roc_auc import pooled_auc
from nnd.schemas import (
    SPARSE,
    Count,
    Limit,
    Printable,
    Record,
    ScoringError,
    Share,
    counted,
    find_frame,
    text_table,
    words_opposite,
)

if TYPE_CHECKING:
    from rich.table import Table

_ALL = "all"
_TITLES = ("model", "spans of", "candidates", "contexts", "AUC [95 %]", "better text [95 %]")
_KEYS = ("split", "context_id", "candidate_id", "aspect", "group")

_Place: TypeAlias = tuple[int, int]

_AUCs: TypeAlias = dict[tuple[Any, ...], float | None]
"""Context, worse candidate and perhaps better one → an AUC, or None if it is undefined."""


@dataclass(frozen=True, slots=True)
class MeanAUC(Record):
    """The mean over candidates of the AUC of surprisal, inside against outside marked words.

    Attributes:
        n: Candidates that have tokens inside and outside.
        contexts: Their contexts, or clusters of these.
        auc: The mean, or None without candidates.
        interval: Its 95 % interval over these, or None.
        interval_reason: Why there is no interval, or None.
    """

    n: Count
    contexts: Count
    auc: Share | None
    interval: Interval | None
    interval_reason: Annotated[str | None, SPARSE] = None


@dataclass(frozen=True, slots=True)
class SpanAUC(Record):
    """How surprised a model is at the spans of a kind.

    Attributes:
        axis: error_category or severity; all for all spans.
        value: The category or the severity.
        marked: The AUC within the candidates with the spans.
        control: The same of the words opposite the spans, within the better candidates.
    """

    axis: Annotated[str, Limit("enum", (_ALL, "error_category", "severity"))]
    value: str
    marked: MeanAUC
    control: MeanAUC


@dataclass(frozen=True, slots=True, repr=False)
class SpanSurprise(Printable):
    """How surprised models are at the errors that people marked.

    Attributes:
        data: Name of the pairs.
        models: Model → its numbers, those of all spans first.
        n_pairs: Pairs whose worse candidate has a span with a place.
        cluster: What the clusters of contexts are called, such as document, or None.
        levels: How many contexts and clusters these pairs have.
    """

    data: str
    models: Mapping[str, tuple[SpanAUC, ...]]
    n_pairs: Count
    cluster: str | None
    levels: Levels

    def headline(self) -> str:
        """Return the AUC of the most surprised model, and its control."""
        of_all = {model: each[0] for model, each in self.models.items()}
        model, most = max(of_all.items(), key=lambda item: item[1].marked.auc or 0.0)
        name = dict(zip(of_all, short_names([*of_all]), strict=True))[model]
        return (
            f"In {counted(most.marked.n, 'candidate')} of {self.data}, {name} is more surprised at "
            f"a marked token than at another with probability {_number(most.marked)}; at the words "
            f"in their place in the better text, {_number(most.control)}."
        )

    def table(self) -> "Table":
        """Return a row per model and kind of spans."""
        names = short_names([*self.models])
        rows = [
            (
                name if place == 0 else "",
                each.value,
                f"{each.marked.n:,}",
                f"{each.marked.contexts:,}",
                _number(each.marked),
                _number(each.control),
            )
            for name, of_model in zip(names, self.models.values(), strict=True)
            for place, each in enumerate(of_model)
        ]
        noun = f"{noun_of(self.levels, self.cluster)}s"
        titles = [noun if title == "contexts" else title for title in _TITLES]
        return text_table(titles, rows, right=titles[2:])

    def remarks(self) -> list[str]:
        """Return how to read the numbers."""
        line = (
            "0.5 is chance. A number above that of the better text says that the error surprises, "
            "and not just rare words."
        )
        few = few_clusters(self.levels, self.cluster)
        return [line, *([f"{few[0].upper()}{few[1:]}."] if few else [])]


def surprise_at_spans(
    name: str,
    pairs: pl.DataFrame,
    annotations: pl.DataFrame,
    tokens: pl.DataFrame,
    cluster: str | None = None,
) -> SpanSurprise:
    """Return how surprised models are at the spans of the worse candidates.

    Args:
        name: Name of the data.
        pairs: Scored pairs with their texts and ids.
        annotations: Annotations with `spans`.
        tokens: Stored tokens, the columns of TOKENS.
        cluster: What the clusters of contexts are called, or None.

    Raises:
        ScoringError: If no worse candidate has a span with a place.
    """
    marked = _marked_pairs(pairs, annotations)
    if not marked:
        raise ScoringError(
            "data.no-pairs",
            "no worse candidate has a marked span with a place",
            name,
            "--spans needs data such as wmt_mqm, ragtruth or quintd",
        )
    models = {
        str(model): tuple(_of_model(marked, rows))
        for (model,), rows in tokens.partition_by(
            "model", as_dict=True, maintain_order=True
        ).items()
    }
    ids = {row["pair_id"] for row in marked}
    levels = levels_in(pairs.filter(pl.col("pair_id").is_in(ids)))
    return SpanSurprise(name, models, len(marked), cluster, levels)


def find_places(pairs: pl.DataFrame, home: str) -> dict[str, list[tuple[int, int]]]:
    """Return pair_id → where the errors of the worse text are marked, if the data says so.

    Args:
        pairs: Scored pairs with their texts and ids.
        home: Where the data is (`PairSet.home`); only folders have marked errors.
    """
    folder = Path(home)
    annotations = find_frame(folder, "annotations") if folder.is_dir() else None
    if annotations is None or "spans" not in annotations.columns:
        return {}
    return {
        row["pair_id"]: [(span["start"], span["end"]) for span in row["spans"]]
        for row in _marked_pairs(pairs, annotations)
    }


def _marked_pairs(pairs: pl.DataFrame, annotations: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the pairs whose worse candidate has spans of their error with places.

    They are rows with these `spans`, and with all spans of the candidate, `every_span`.
    """
    keys = [name for name in _KEYS if name in annotations.columns]
    placed = pl.col("spans").list.filter(pl.element().struct.field("start").is_not_null())
    spans = annotations.select(*keys, "label", placed).filter(pl.col("spans").list.len() > 0)
    spans = spans.unique([*keys, "label"], keep="first", maintain_order=True)
    of_all = spans.group_by(keys).agg(every_span=pl.col("spans").explode())
    left = pairs.with_columns(candidate_id=pl.col("low_id"), cluster_key=pl.struct(CLUSTER))
    if "group" not in left.columns:
        left = left.with_columns(group=pl.lit(None, pl.String))
    for each in (spans, of_all):
        left = left.join(each, on=keys, how="inner", nulls_equal=True, maintain_order="left")
    # Rules without labels pair by scores: all spans of the candidate count.
    own = pl.col("label").is_null() | (pl.col("label") == pl.col("error_category"))
    return left.filter(own).to_dicts()


def _of_model(marked: Sequence[Mapping[str, Any]], tokens: pl.DataFrame) -> Iterator[SpanAUC]:
    stored = {(row["pair_id"], row["side"]): row for row in tokens.to_dicts()}
    found: dict[tuple[str, str], tuple[_AUCs, _AUCs]] = {}
    for row in marked:
        low, high = (stored.get((row["pair_id"], side)) for side in ("low", "high"))
        if low is None or high is None:
            continue
        texts = row["candidate_low"], row["candidate_high"]
        candidate = (tuple(row["cluster_key"].values()), row["low_id"])
        for kind, spans in _kinds(row):
            of_marked, of_control = found.setdefault(kind, ({}, {}))
            places, others = _places(spans), _places(row["every_span"])
            if candidate not in of_marked:
                of_marked[candidate] = _auc(low, places, others)
            if (both := (*candidate, row["high_id"])) not in of_control:
                own, rest = (
                    [place for each in some if (place := words_opposite(*texts, *each))]
                    for some in (places, others)
                )
                of_control[both] = _auc(high, own, rest)
    for (axis, value), aucs in sorted(
        found.items(), key=lambda item: (item[0][0] != _ALL, item[0])
    ):
        yield SpanAUC(axis, value, *map(_mean, aucs))


def _kinds(row: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], list[dict[str, Any]]]]:
    """Yield the kinds of the spans of a pair, each with its spans."""
    every = row["every_span"]
    yield (_ALL, _ALL), every
    yield ("error_category", str(row["error_category"])), row["spans"]
    for severity in dict.fromkeys(span["severity"] for span in every):
        if severity is not None:
            yield ("severity", severity), [span for span in every if span["severity"] == severity]


def _places(spans: Sequence[Mapping[str, Any]]) -> list[_Place]:
    return [(span["start"], span["end"]) for span in spans]


def _auc(
    tokens: Mapping[str, Any], places: Sequence[_Place], ignored: Sequence[_Place]
) -> float | None:
    """Return the AUC of a row of stored tokens; None without a token inside, or without another."""
    known = [
        (_overlaps(start, end, places), -value)
        for start, end, value in zip(
            tokens["start"], tokens["end"], tokens["log_likelihood"], strict=True
        )
        if start is not None
        and (_overlaps(start, end, places) or not _overlaps(start, end, ignored))
    ]
    if len({is_inside for is_inside, _ in known}) < 2:  # noqa: PLR2004
        return None
    inside, surprisal = (np.array(each) for each in zip(*known, strict=True))
    return float(pooled_auc(surprisal, inside, np.ones((1, len(known))))[0])


def _overlaps(start: int, end: int, places: Sequence[_Place]) -> bool:
    return any(start < last and end > first for first, last in places)


def _mean(aucs: _AUCs) -> MeanAUC:
    """Return the mean of AUCs, whose keys begin with their contexts."""
    values: dict[Any, list[float]] = {}
    for (context, *_), value in aucs.items():
        if value is not None:
            values.setdefault(context, []).append(value)
    if not values:
        return MeanAUC(0, 0, None, None, ONE_CONTEXT)
    sums, squares, counts = (
        np.array([[function(own)] for own in values.values()])
        for function in (sum, lambda own: sum(value**2 for value in own), len)
    )
    (interval,) = cluster_intervals(sums, squares, counts)
    n = int(counts.sum())
    mean = float(sums.sum() / n)
    return MeanAUC(n, len(values), mean, interval.bounds, interval.reason)


def _number(mean: MeanAUC) -> str:
    if mean.auc is None:
        return "n/a"
    low, high = mean.interval or (None, None)
    return f"{mean.auc:.3f}" + ("" if low is None else f" [{low:.3f}, {high:.3f}]")
