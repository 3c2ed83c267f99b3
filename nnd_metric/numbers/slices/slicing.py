"""Slices of stored runs, computed from stored log-likelihoods and the data."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from nnd.metric.data import (
    REQUIRED,
    PairData,
    PairSet,
    cluster_of_runs,
    describe_splits,
    load_pairs,
    missing_clusters,
    read_signatures,
    read_tokens,
    scored_splits,
)
from nnd.metric.numbers.agreement.from_results import read_scored
from nnd.metric.numbers.manners.manner import (
    data_in,
    describe_manners,
    name_protocols,
    read_manners_of,
)
from nnd.metric.numbers.rates.alignment import by_model, join_texts
from nnd.metric.numbers.rates.context_sums import CLUSTER, NUMBERED, TEST_NUMBER, each_once
from nnd.metric.numbers.rates.pass_rates import Rate, rate_of, to_rate
from nnd.metric.numbers.rates.rate_differences import compare_sets
from nnd.metric.numbers.slices.axes import LABELS, read_axes
from nnd.metric.numbers.slices.axis_values import parts_in
from nnd.metric.numbers.slices.conditions import combine, where_true
from nnd.metric.numbers.slices.named_slices import NamedSlice, find_slices
from nnd.metric.numbers.slices.parts import with_seen
from nnd.metric.numbers.slices.slices import AxisTests, Search, SliceRate, SliceRates, Slices
from nnd.metric.numbers.slices.span_surprise import SpanSurprise, surprise_at_spans
from nnd.metric.numbers.statistics.context_intervals import FEW_CONTEXTS
from nnd.metric.numbers.statistics.difference import Difference, adjust
from nnd.schemas import DISTINCT, ScoringError, find_frame

_TRIED = (
    *LABELS,
    *("length", "length:high", "sentences", "turns", "components", "candidates", "novelty"),
    *("novelty:low", "nearness", "nearness:lengths", "margin", "agreement", "shape:high"),
)
"""Axes that are tried by default."""


def slice_runs(
    runs: str | Path | Sequence[str | Path],
    data: PairData | None = None,
    *,
    by: str | Sequence[str] = (),
    where: str | Sequence[str] = (),
    names: str | Sequence[str] = (),
    find: bool = False,
    contexts: int = FEW_CONTEXTS,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    training_texts: str | Path | None = None,
) -> Slices:
    """Return the pass rates of slices of stored runs; no model is run.

    The arguments are those of `nnd.slice`; `load_pairs` says what can be passed as data, and the
    modules `axes` and `conditions` what axes and conditions are.
    """
    if contexts < 2:  # noqa: PLR2004 - one context has no spread
        raise ScoringError(
            "option.bad-value", where=f"--contexts {contexts}", remedy="give 2 or more"
        )
    folders = [Path(run) for run in _listed(runs)]
    texts = None if data is None else load_pairs(data)
    scored = read_scored(
        folders, splits=splits, mixed_rules=mixed_rules, data=None if texts is None else texts.pairs
    )
    frames = by_model(scored)
    if not frames:
        raise ScoringError(
            "data.no-pairs", "the run has no pairs", folders[0], "name a run with scored pairs"
        )
    pairs, annotations = _with_texts(next(iter(frames.values())), texts), _annotations(data)
    pairs = with_seen(pairs, training_texts)
    by, where, names = _listed(by), _listed(where), _listed(names)
    if find and not by and not where:
        chosen = _try_all(pairs, annotations)
    else:
        chosen = _choose(pairs, annotations, by, where, names)
    if find:
        chosen = _large(pairs, _distinct(chosen), contexts)
    manners = read_manners_of(folders)
    shown = {model: model for model in frames} | name_protocols(manners)
    rated = {shown[model]: to_rate([rows]) for model, rows in frames.items()}
    rates = _rates_in(rated, pairs["pair_id"], chosen)
    if find:
        below = [each for each in rates if each.worst[1].is_below]
        rates = sorted(below, key=lambda each: each.worst[1].lead)
    overall = {model: rate_of(each_once(rows)) for model, rows in rated.items()}
    return Slices(
        data=_name(folders, texts, scored, splits),
        n=next(iter(overall.values())).n,
        overall=overall,
        slices=tuple(rates),
        axes={} if find or names else _axis_tests(pairs, chosen),
        search=Search(contexts, len(chosen)) if find else None,
        cluster=cluster_of_runs(folders, texts),
        notes=(*describe_manners(manners), *_unknown_clusters(folders, texts, scored)),
    )


def surprise_of_runs(
    runs: str | Path | Sequence[str | Path],
    data: PairData | None,
    *,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
) -> SpanSurprise:
    """Return how surprised the models of runs are at the spans of the data (`nnd.slice`)."""
    folders = [Path(run) for run in _listed(runs)]
    annotations = _annotations(data)
    if data is None or annotations is None or "spans" not in annotations.columns:
        raise ScoringError(
            "data.not-converted",
            "--spans needs the places of marked errors",
            data or folders[0],
            "name a folder that `nnd convert` wrote from a source that has them with --data",
        )
    kept = [read_tokens(folder) for folder in folders]
    for folder, tokens in zip(folders, kept, strict=True):
        if tokens.is_empty():
            raise ScoringError(
                "run.evaluate-again",
                "the run has no tokens",
                folder,
                "evaluate again with nnd evaluate --keep-tokens",
            )
    texts = load_pairs(data)
    scored = read_scored(folders, splits=splits, mixed_rules=mixed_rules, data=texts.pairs)
    pairs = _with_texts(next(iter(by_model(scored).values())), texts)
    name = _name(folders, texts, scored, splits)
    cluster = cluster_of_runs(folders, texts)
    return surprise_at_spans(name, pairs, annotations, pl.concat(kept), cluster)


def _choose(
    pairs: pl.DataFrame,
    annotations: pl.DataFrame | None,
    by: Sequence[str],
    where: Sequence[str],
    names: Sequence[str],
) -> list[NamedSlice]:
    """Return slices of axes (`read_axes`) and conditions, or some of these by name (`combine`)."""
    if not by and not where:
        raise ScoringError(
            "input.missing",
            "no axis was given",
            remedy="name an axis (--by length) or a condition (--where), or search for slices "
            "(--find)",
        )
    slices = find_slices(pairs, read_axes(by), annotations) if by else []
    for condition in where:
        members = where_true(pairs, condition, annotations)
        if not members.any():
            raise ScoringError(
                "slice.empty",
                "no pair meets the condition, so the slice is empty",
                f'--where "{condition}"',
            )
        slices.append(NamedSlice("where", condition, members))
    if not names:
        return slices
    known = {each.name: each for each in slices}
    members_of = {name: each.members for name, each in known.items()}
    return [known.get(name) or NamedSlice("", name, combine(name, members_of)) for name in names]


def _try_all(pairs: pl.DataFrame, annotations: pl.DataFrame | None) -> list[NamedSlice]:
    """Return the slices of every axis on which the pairs have values."""
    parts = {name for each in parts_in(pairs) for name in each}
    slices: list[NamedSlice] = []
    for axis in (*_TRIED, *sorted(parts)):
        with suppress(ScoringError):  # the axis has no values here, or too many
            slices += find_slices(pairs, read_axes([axis]), annotations)
    return slices


def _distinct(slices: Sequence[NamedSlice]) -> list[NamedSlice]:
    """Return the slices without those that hold the same pairs as an earlier one."""
    first: dict[bytes, NamedSlice] = {}
    for each in slices:
        first.setdefault(each.members.tobytes(), each)
    return [*first.values()]


def _rates_in(
    frames: Mapping[str, pl.DataFrame], ids: pl.Series, slices: Sequence[NamedSlice]
) -> list[SliceRates]:
    """Return every model's pass rate on every slice; `frames` are those of `to_rate`."""
    of_models = {model: _of_model(rows, slices) for model, rows in frames.items()}
    adjusted = iter(adjust([apart for each in of_models.values() for _, apart in each]))
    by_model = {
        model: [SliceRate(rate, next(adjusted)) for rate, _ in each]
        for model, each in of_models.items()
    }
    rates = []
    for place, (axis, value, members) in enumerate(slices):
        models = {model: of_slices[place] for model, of_slices in by_model.items()}
        first = next(iter(models.values())).rate  # the tests of all models are the same
        pair_ids = ids.filter(pl.Series(members))
        counts = (first.n, len(pair_ids), first.contexts, first.clusters)
        rates.append(SliceRates(axis, value, slices[place].name, *counts, models, pair_ids))
    return rates


def _of_model(rated: pl.DataFrame, slices: Sequence[NamedSlice]) -> list[tuple[Rate, Difference]]:
    everything = each_once(rated)
    contexts = rated.select(NUMBERED).unique(maintain_order=True)
    rates = []
    for each in slices:
        own = each_once(rated.filter(pl.Series(each.members)))
        rest = everything.filter(~pl.col(TEST_NUMBER).is_in(own[TEST_NUMBER].implode()))
        rates.append((rate_of(own), compare_sets(contexts, own, rest, key=NUMBERED)))
    return rates


def _listed(values: str | Path | Sequence[str | Path]) -> list[str]:
    return [str(each) for each in ([values] if isinstance(values, str | Path) else values)]


def _with_texts(rows: pl.DataFrame, texts: PairSet | None) -> pl.DataFrame:
    if texts is None:
        return rows.drop("model", "occurrence")
    held = {*rows.columns, *REQUIRED}
    others = [column for column in texts.pairs.columns if column not in held]
    return join_texts(rows, texts, others).drop("model", "occurrence")


def _annotations(data: PairData | None) -> pl.DataFrame | None:
    """Return the annotations of a converted folder; None for other data."""
    if not isinstance(data, str | Path) or not Path(data).is_dir():
        return None
    return find_frame(Path(data), "annotations")


def _large(pairs: pl.DataFrame, slices: Sequence[NamedSlice], contexts: int) -> list[NamedSlice]:
    """Return the slices with enough contexts, except those of all pairs, which have no rest."""
    clusters = pairs.select(pl.struct(CLUSTER)).to_series()
    return [
        each
        for each in slices
        if not each.members.all()
        and clusters.filter(pl.Series(each.members)).n_unique() >= contexts
    ]


def _unknown_clusters(
    folders: Sequence[Path], texts: PairSet | None, scored: pl.DataFrame
) -> tuple[str, ...]:
    missing = missing_clusters(folders, scored) if texts is None else None
    return () if missing is None else (f"{missing}.",)


def _axis_tests(pairs: pl.DataFrame, slices: Sequence[NamedSlice]) -> dict[str, AxisTests]:
    tests = pairs.select(DISTINCT)
    n, by_axis = tests.n_unique(), {}
    for axis in dict.fromkeys(each.axis for each in slices if each.axis != "where"):
        members = [pl.Series(each.members) for each in slices if each.axis == axis]
        together = sum(tests.filter(each).n_unique() for each in members)
        inside = tests.filter(pl.any_horizontal(members)).n_unique()
        by_axis[axis] = AxisTests(together, n - inside)
    return by_axis


def _name(
    folders: Sequence[Path],
    texts: PairSet | None,
    scored: pl.DataFrame,
    chosen: Sequence[str],
) -> str:
    """Return the name of the data and its splits, if it has several.

    Without texts, it is the name in the first signature, else that of the run.
    """
    signatures = [*read_signatures(folders[0]).values()]
    stored = (data_in(next(iter(signatures), None)) or "").rpartition("@")[0]
    name = texts.name if texts is not None else stored or folders[0].name
    splits = scored_splits(scored, signatures, chosen)
    return f"{name} ({describe_splits(splits)})" if splits else name
