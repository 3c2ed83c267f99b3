"""Surprise at marked errors: is a model less sure of the tokens that people marked?

The surprisal of a token is -log P. Within a candidate, the AUC is the share of pairs of a token
inside its spans and a token outside in which the one inside is more surprising; equal ones count
half. It is 0.5 for a model that knows nothing of the error, whatever the length or the difficulty
of the text. Each candidate counts once under a label; means have intervals over contexts
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
from nnd.metric.numbers.rates.context_sums import CLUSTER
from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.intervals import Interval
from nnd.schemas import (
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

_Tokens: TypeAlias = Mapping[str, Any]
"""A row of stored tokens."""


@dataclass(frozen=True, slots=True)
class MeanAUC(Record):
    """The mean over candidates of the AUC of surprisal, inside against outside marked words.

    Attributes:
        n: Candidates that have tokens inside and outside.
        contexts: Their contexts.
        auc: The mean, or None without candidates.
        interval: Its 95 % interval over contexts, or None.
    """

    n: Count
    contexts: Count
    auc: Share | None
    interval: Interval | None


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
    """

    data: str
    models: Mapping[str, tuple[SpanAUC, ...]]
    n_pairs: Count

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
        return text_table(_TITLES, rows, right=_TITLES[2:])

    def remarks(self) -> list[str]:
        """Return how to read the numbers."""
        line = (
            "0.5 is chance. A number above that of the better text says that the error surprises, "
            "and not just rare words."
        )
        return [line]


def surprise_at_spans(
    name: str, pairs: pl.DataFrame, annotations: pl.DataFrame, tokens: pl.DataFrame
) -> SpanSurprise:
    """Return how surprised models are at the spans of the worse candidates.

    Args:
        name: Name of the data.
        pairs: Scored pairs with their texts and ids.
        annotations: Annotations with `spans`.
        tokens: Stored tokens, the columns of TOKENS.

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
    return SpanSurprise(name, models, len(marked))


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
    """Return the pairs whose worse candidate has spans with places, as rows with these spans."""
    keys = [name for name in _KEYS if name in annotations.columns]
    spans = annotations.select(*keys, "label", "spans").unique([*keys, "label"])
    left = pairs.with_columns(candidate_id=pl.col("low_id"), cluster_key=pl.struct(CLUSTER))
    if "group" not in left.columns:
        left = left.with_columns(group=pl.lit(None, pl.String))
    joined = left.join(spans, on=keys, how="inner", nulls_equal=True, maintain_order="left")
    # Rules without labels pair by scores: all spans of the candidate count.
    own = pl.col("label").is_null() | (pl.col("label") == pl.col("error_category"))
    rows = joined.filter(own & pl.col("spans").list.len().gt(0)).to_dicts()
    placed = [
        row | {"spans": [span for span in row["spans"] if span["start"] is not None]}
        for row in rows
    ]
    return [row for row in placed if row["spans"]]


def _of_model(marked: Sequence[Mapping[str, Any]], tokens: pl.DataFrame) -> Iterator[SpanAUC]:
    stored = {(row["pair_id"], row["side"]): row for row in tokens.to_dicts()}
    found: dict[tuple[str, str], list[dict[Any, float]]] = {}
    for row in marked:
        low, high = (stored.get((row["pair_id"], side)) for side in ("low", "high"))
        if low is None or high is None:
            continue
        texts = row["candidate_low"], row["candidate_high"]
        context = tuple(row["cluster_key"].values())
        for kind, spans in _kinds(row):
            places = [(span["start"], span["end"]) for span in spans]
            others = [(span["start"], span["end"]) for span in row["spans"] if span not in spans]
            opposite = [words_opposite(*texts, *place) for place in places]
            aucs = found.setdefault(kind, [{}, {}])
            _add(aucs[0], (context, row["low_id"], kind), low, places, others)
            _add(
                aucs[1],
                (context, row["low_id"], row["high_id"], kind),
                high,
                [place for place in opposite if place is not None],
                [],
            )
    for (axis, value), (low_aucs, high_aucs) in sorted(
        found.items(), key=lambda item: (item[0][0] != _ALL, item[0])
    ):
        yield SpanAUC(axis, value, _mean(low_aucs), _mean(high_aucs))


def _kinds(row: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], list[dict[str, Any]]]]:
    """Yield the kinds of the spans of a pair, each with its spans."""
    yield (_ALL, _ALL), row["spans"]
    yield ("error_category", str(row["error_category"])), row["spans"]
    for severity in dict.fromkeys(span["severity"] for span in row["spans"]):
        if severity is not None:
            own = [span for span in row["spans"] if span["severity"] == severity]
            yield ("severity", severity), own


def _add(
    aucs: dict[Any, float],
    key: object,
    tokens: _Tokens,
    places: Sequence[tuple[int, int]],
    ignored: Sequence[tuple[int, int]],
) -> None:
    """Add the AUC of a candidate, unless it is there, or has no token inside or outside."""
    if key in aucs:
        return
    inside, outside = list[float](), list[float]()
    for start, end, log_likelihood in zip(
        tokens["start"], tokens["end"], tokens["log_likelihood"], strict=True
    ):
        if start is None:
            continue
        if _overlaps(start, end, places):
            inside.append(-log_likelihood)
        elif not _overlaps(start, end, ignored):
            outside.append(-log_likelihood)
    if inside and outside:
        aucs[key] = area_under_curve(inside, outside)


def _overlaps(start: int, end: int, places: Sequence[tuple[int, int]]) -> bool:
    return any(start < last and end > first for first, last in places)


def area_under_curve(inside: Sequence[float], outside: Sequence[float]) -> float:
    """Return the share of pairs in which the number inside is greater; equal ones count half."""
    difference = np.subtract.outer(np.asarray(inside), np.asarray(outside))
    return float((difference > 0).mean() + (difference == 0).mean() / 2)


def _mean(aucs: Mapping[Any, float]) -> MeanAUC:
    """Return the mean of AUCs, whose keys begin with their contexts."""
    values: dict[Any, list[float]] = {}
    for key, value in aucs.items():
        values.setdefault(key[0], []).append(value)
    if not values:
        return MeanAUC(0, 0, None, None)
    sums, squares, counts = (
        np.array([[function(own)] for own in values.values()])
        for function in (sum, lambda own: sum(value**2 for value in own), len)
    )
    (interval,) = cluster_intervals(sums, squares, counts)
    return MeanAUC(len(aucs), len(values), float(sums.sum() / counts.sum()), interval.bounds)


def _number(mean: MeanAUC) -> str:
    if mean.auc is None:
        return "n/a"
    low, high = mean.interval or (None, None)
    return f"{mean.auc:.3f}" + ("" if low is None else f" [{low:.3f}, {high:.3f}]")
