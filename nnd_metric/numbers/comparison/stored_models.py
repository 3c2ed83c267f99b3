"""Read the models of stored runs, and group them by dataset."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from nnd.metric.data import cluster_of_runs, fill_clusters, read_run, read_signatures
from nnd.metric.numbers.manners.manner import (
    Manner,
    check_manners,
    data_in,
    find_protocols,
    manner_of,
    name_protocol,
    read_manners,
    tell_readings,
)
from nnd.schemas import ScoringError, did_you_mean


class Entry(NamedTuple):
    """One model in one run; its signature, folder and name of clusters are None if unknown.

    The label is the model's name; if several runs of one dataset have it, how it read contexts
    where that tells all entries apart, otherwise FOLDER:NAME.
    """

    label: str
    model: str
    rows: pl.DataFrame
    signature: str | None
    manner: Manner
    folder: Path | None = None
    cluster: str | None = None

    @property
    def data(self) -> str | None:
        """Name and version of the dataset, or None if the run does not store them."""
        return data_in(self.signature)


def read_entries(folders: Sequence[Path], splits: Sequence[str] = ()) -> list[Entry]:
    """Return every model of every run."""
    repeated = [folder for folder in folders if folders.count(folder) > 1]
    if repeated:
        raise ScoringError("name.twice", "named twice", repeated[0], "name each run once")
    entries: list[Entry] = []
    for folder in folders:
        if not folder.is_dir():
            raise ScoringError(
                "run.not-a-run", "not a folder", folder, "name folders that `nnd evaluate` wrote"
            )
    runs = fill_clusters([read_run(folder, splits) for folder in folders])
    for folder, rows in zip(folders, runs, strict=True):
        signatures, manners = read_signatures(folder), read_manners(folder)
        cluster = cluster_of_runs([folder])
        for name in rows["model"].unique(maintain_order=True):
            own = rows.filter(pl.col("model") == name)
            manner = manners.get(name) or manner_of({})
            entries.append(Entry(name, name, own, signatures.get(name), manner, folder, cluster))
    return entries


def check_known(models: Sequence[str] | None, entries: Sequence[Entry]) -> None:
    """Check that models, by name or label, are among the entries."""
    labels = list(dict.fromkeys(entry.label for entry in entries))
    for name in models or ():
        if name not in labels and all(name != entry.model for entry in entries):
            raise ScoringError(
                "name.unknown",
                f'unknown model "{name}"{did_you_mean(name, labels)}',
                remedy=f"known: {', '.join(labels)}",
            )


def by_dataset(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Return dataset → its models, with labels that are unique within a dataset.

    Two models belong to one dataset if they share a pair, or both share one with a third.
    """
    groups: list[tuple[pl.Series, list[Entry]]] = []
    for entry in entries:
        pairs, together = entry.rows["pair_id"], [entry]
        apart: list[tuple[pl.Series, list[Entry]]] = []
        for others, group in groups:
            if not others.is_in(pairs.implode()).any():
                apart.append((others, group))
                continue
            if not pairs.equals(others):
                pairs = pl.concat([pairs, others]).unique()
            together = [*group, *together]
        groups = [*apart, (pairs, together)]
    order = {id(entry): number for number, entry in enumerate(entries)}
    sets = [sorted(together, key=lambda entry: order[id(entry)]) for _, together in groups]
    sets.sort(key=lambda group: order[id(group[0])])
    return dict(zip(_names(sets), map(_labelled, sets), strict=True))


def with_protocols(
    datasets: Mapping[str, Sequence[Entry]], *, mixed_rules: bool
) -> dict[str, list[Entry]]:
    """Return the models, whose labels name their protocol if there are several protocols."""
    models = [(e.folder, e.model, e.manner) for each in datasets.values() for e in each]
    if not mixed_rules:
        check_manners(models)
    several = len(find_protocols(manner for *_, manner in models)) > 1
    return {
        name: _with_protocols(entries) if several else [*entries]
        for name, entries in datasets.items()
    }


def _with_protocols(entries: Sequence[Entry]) -> list[Entry]:
    brief = [name_protocol(entry.model, entry.manner) for entry in entries]
    return [
        entry._replace(
            label=name if brief.count(name) == 1 else name_protocol(entry.label, entry.manner)
        )
        for name, entry in zip(brief, entries, strict=True)
    ]


def group_runs(folders: Sequence[Path]) -> dict[str, list[Path]]:
    """Return dataset → the runs on it, grouped as in `by_dataset`."""
    runs = []
    for folder in folders:
        signature = next(iter(read_signatures(folder).values()), None)
        rows, unknown = read_run(folder), manner_of({})
        runs.append(Entry(str(folder), str(folder), rows, signature, unknown, folder))
    return {
        name: [Path(entry.label) for entry in entries] for name, entries in by_dataset(runs).items()
    }


def _names(groups: Sequence[Sequence[Entry]]) -> list[str]:
    """Return labels of datasets: the name, the name and version, or the folder of a run."""
    whole = [group[0].data or "" for group in groups]
    brief = [data.rpartition("@")[0] for data in whole]
    for names in (brief, whole):
        if all(names) and len({*names}) == len(groups):
            return names
    return [str(group[0].folder) for group in groups]


def _labelled(entries: Sequence[Entry]) -> list[Entry]:
    names = Counter(entry.model for entry in entries)
    if readings := tell_readings([entry.manner for entry in entries]):
        pairs = zip(entries, readings, strict=True)
        return [entry._replace(label=reading) for entry, reading in pairs]
    return [
        entry._replace(label=f"{entry.folder}:{entry.model}") if names[entry.model] > 1 else entry
        for entry in entries
    ]
