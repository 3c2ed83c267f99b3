"""Slices of stored runs, computed from stored log-likelihoods and the data."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from nnd.metric.data import (
    REQUIRED,
    PairData,
    PairSet,
    describe_splits,
    load_pairs,
    read_signatures,
    scored_splits,
)
from nnd.metric.numbers.agreement.from_results import read_scored
from nnd.metric.numbers.manners.manner import describe_manners, name_protocols, read_manners_of
from nnd.metric.numbers.rates.alignment import by_model, join_texts
from nnd.metric.numbers.rates.context_sums import each_once
from nnd.metric.numbers.rates.pass_rates import rate_of, to_rate
from nnd.metric.numbers.slices.named_slices import NamedSlice
from nnd.metric.numbers.slices.selection import (
    Sliced,
    choose_slices,
    distinct_slices,
    slices_to_try,
)
from nnd.metric.numbers.slices.slice_rates import rates_in
from nnd.metric.numbers.slices.slices import AxisTests, Search, Slices
from nnd.metric.numbers.statistics.context_intervals import FEW_CONTEXTS
from nnd.schemas import DISTINCT, ScoringError, find_frame


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
) -> Slices:
    """Return the pass rates of slices of stored runs; no model is run.

    The arguments are those of `nnd.slice`; `load_pairs` says what can be passed as data, and the
    modules `axes` and `conditions` what axes and conditions are.

    Raises:
        ScoringError: If a run or the data cannot be read, they do not fit together, or a name is
            unknown.
    """
    folders = [Path(run) for run in _listed(runs)]
    scored = read_scored(folders, splits=splits, mixed_rules=mixed_rules)
    frames = by_model(scored)
    if not frames:
        raise ScoringError(f"{folders[0]}: the run has no pairs; name a run with scored pairs")
    texts = None if data is None else load_pairs(data)
    of = Sliced(_with_texts(next(iter(frames.values())), texts), _annotations(data))
    by, where, names = _listed(by), _listed(where), _listed(names)
    search = None
    if find and (by or where):
        chosen = distinct_slices(choose_slices(of, by, where, names))
    else:
        chosen = slices_to_try(of) if find else choose_slices(of, by, where, names)
    if find:
        chosen = _large(of.pairs, chosen, contexts)
        search = Search(contexts, len(chosen))
    ids = of.pairs["pair_id"]
    manners = read_manners_of(folders)
    shown = {model: model for model in frames} | name_protocols(manners)
    rated = {shown[model]: to_rate([rows]) for model, rows in frames.items()}
    found = rates_in(rated, ids, chosen)
    if find:
        below = [each for each in found if each.worst[1].is_below]
        found = sorted(below, key=lambda each: each.worst[1].from_rest.difference or 0.0)
    overall = {model: rate_of(each_once(rows)) for model, rows in rated.items()}
    return Slices(
        data=_name(folders, texts, scored, splits),
        n=next(iter(overall.values())).n,
        overall=overall,
        slices=tuple(found),
        axes={} if find or names else _axis_tests(of.pairs, chosen),
        search=search,
        notes=tuple(describe_manners(manners)),
    )


def _listed(values: str | Path | Sequence[str | Path]) -> list[str]:
    return [str(each) for each in ([values] if isinstance(values, str | Path) else values)]


def _with_texts(rows: pl.DataFrame, texts: PairSet | None) -> pl.DataFrame:
    """Return the scored pairs with all columns of the data."""
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
    clusters = pairs.select(
        pl.struct("split", pl.coalesce("cluster", "context_id")).alias("cluster")
    )["cluster"]
    return [
        each
        for each in slices
        if not each.members.all()
        and clusters.filter(pl.Series(each.members)).n_unique() >= contexts
    ]


def _axis_tests(pairs: pl.DataFrame, slices: Sequence[NamedSlice]) -> dict[str, AxisTests]:
    tests = pairs.select(DISTINCT)
    n, found = tests.n_unique(), {}
    for axis in dict.fromkeys(each.axis for each in slices if each.axis != "where"):
        members = [each.members for each in slices if each.axis == axis]
        together = sum(tests.filter(pl.Series(each)).n_unique() for each in members)
        inside = tests.filter(pl.any_horizontal([pl.Series(each) for each in members])).n_unique()
        found[axis] = AxisTests(together, n - inside)
    return found


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
    named = (part for part in "|".join(signatures[:1]).split("|") if part.startswith("data:"))
    stored = next(named, "").removeprefix("data:").rpartition("@")[0]
    name = texts.name if texts is not None else stored or folders[0].name
    splits = scored_splits(scored, signatures, chosen)
    return f"{name} ({describe_splits(splits)})" if splits else name
