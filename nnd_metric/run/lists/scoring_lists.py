"""Score a list of runs: similar entries in one sweep, each manner in its own folder.

If neighbouring entries read one model in several ways, it is loaded once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from typing import TypeVar

from nnd.metric.data import PairSet, name_datasets
from nnd.metric.likelihood import (
    LoadedModel,
    Loading,
    Model,
    load_config,
    load_model,
    name_models,
    pin_version,
)
from nnd.metric.run.cost.fitting import check_scorable
from nnd.metric.run.evaluation import Evaluation, Sweep
from nnd.metric.run.lists.list_entries import RunEntry
from nnd.metric.run.run_request import RunRequest
from nnd.metric.run.survival import Trouble
from nnd.metric.run.sweep import sweep
from nnd.schemas import ScoringError, listed

_Value = TypeVar("_Value")


def check_entries(entries: Sequence[RunEntry]) -> None:
    """Check before scoring that models exist and results have distinct folders."""
    _check_places(_alike(entries))
    for entry in entries:
        with entry.named():
            load_config(entry.model, entry.loading)


def loadable_entries(entries: Sequence[RunEntry], trouble: Trouble) -> list[RunEntry]:
    """Return the entries whose models can be loaded on this machine; the others are trouble."""
    groups: dict[tuple[str, Loading], list[RunEntry]] = {}
    for entry in entries:
        groups.setdefault((entry.model, entry.loading), []).append(entry)
    loadable: list[RunEntry] = []
    for (model, loading), of_model in groups.items():
        with trouble.survived(model, None):
            check_scorable(model, loading)
            loadable += of_model
    return [entry for entry in entries if entry in loadable]


def score_entries(
    entries: Sequence[RunEntry], out: Path, trouble: Trouble, *, limit: int | None = None
) -> Sweep:
    """Score a list of runs into `OUT/MANNER/DATASET`; `trouble` has the entries left out so far."""
    evaluations: dict[str, Evaluation] = {}
    pairs: dict[str, PairSet] = {}
    folders: dict[str, Path] = {}
    for group, load in _with_loader(_alike(entries)):
        first = group[0]
        keys, place = name_datasets(first.data), out / first.manner
        with trouble.survived(listed([entry.model for entry in group]), None):
            request = RunRequest(
                [load(entry.model, entry.loading) for entry in group],
                list(first.data),
                systems={name: e.system for e, name in _named(group) if e.system is not None},
                columns=first.columns,
                cluster=first.cluster,
                splits=first.splits,
                limit=limit,
                scoring=first.scoring,
                loading=first.loading,
                published={n: e.published for e, n in _named(group) if e.published is not None},
            )
            of_group = sweep(request, place / keys[0] if len(keys) == 1 else place)
            evaluations |= _below(first.manner, of_group.evaluations)
            pairs |= _below(first.manner, of_group.pairs)
            folders |= _below(first.manner, of_group.folders)
            trouble.failures.extend(of_group.failures)
    return Sweep(evaluations, pairs, tuple(trouble.failures), folders)


def _with_loader(
    groups: Sequence[Sequence[RunEntry]],
) -> Iterator[tuple[Sequence[RunEntry], Callable[[str, Loading], Model]]]:
    """Yield each group with what gives its models: a model read in several ways is loaded once."""
    for _, readings in groupby(
        groups, lambda group: [(each.model, each.loading) for each in group]
    ):
        first, *others = readings
        load = cache(_load) if others and len(first) == 1 else _by_name
        for group in (first, *others):
            yield group, load


def _load(model: str, loading: Loading) -> LoadedModel:
    return pin_version(load_model(model, loading), remember=True)


def _by_name(model: str, _: Loading) -> str:
    return model


def _alike(entries: Sequence[RunEntry]) -> list[list[RunEntry]]:
    """Return the entries in groups that one sweep can score, in the order of the first of each."""
    groups: list[list[RunEntry]] = []
    for entry in entries:
        alike = (group for group in groups if _shared(group[0]) == _shared(entry))
        group = next(alike, None)
        if group is None:
            groups.append([entry])
        else:
            group.append(entry)
    return groups


def _shared(entry: RunEntry) -> tuple[object, ...]:
    return entry.scoring, entry.loading, entry.data, entry.splits, entry.columns, entry.cluster


def _check_places(groups: Sequence[Sequence[RunEntry]]) -> None:
    """Check that a folder has one dataset, and each model once."""
    data_of: dict[str, tuple[str, RunEntry]] = {}
    entry_of: dict[tuple[str, str], RunEntry] = {}
    for group in groups:
        data = group[0].data
        with group[0].named():
            folders = [f"{group[0].manner}/{key}" for key in name_datasets(data)]
        for name, folder in zip(data, folders, strict=True):
            other, first = data_of.setdefault(folder, (name, group[0]))
            if other != name:
                raise ScoringError(
                    "runs.same-folder",
                    f"the results on {name} belong into {folder}, which holds those on "
                    f"{other} ({first.where})",
                    group[0].where,
                    "rename the folder of one",
                )
        with_revisions = ((entry, entry.loading.called(entry.model)) for entry in group)
        for entry, model in chain(with_revisions, _named(group)):
            for folder in folders:
                first = entry_of.setdefault((folder, model), entry)
                if first is not entry:
                    raise ScoringError(
                        "runs.same-folder",
                        f'model "{model}" is scored into {folder} by {first.where}, too',
                        entry.where,
                        "keep one of them, or list one in another file with another --out",
                    )


def _named(group: Sequence[RunEntry]) -> Iterator[tuple[RunEntry, str]]:
    """Yield the entries, each with the name of its model in the results."""
    names = name_models([entry.model for entry in group], group[0].loading)
    yield from zip(group, names, strict=True)


def _below(manner: str, found: Mapping[str, _Value]) -> dict[str, _Value]:
    return {f"{manner}/{key}": value for key, value in found.items()}
