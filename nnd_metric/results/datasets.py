"""Which of several datasets stored runs are on."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nnd.metric.data import PairSet
from nnd.metric.results.run_folder import read_run
from nnd.schemas import ScoringError


def runs_by_dataset(
    folders: Sequence[Path], datasets: Mapping[str, PairSet]
) -> dict[str, list[Path]]:
    """Return dataset → the runs on it: those that share a pair with it.

    Args:
        folders: Folders that `nnd evaluate` wrote.
        datasets: Name → pairs.

    Raises:
        ScoringError: If a run cannot be read, or shares pairs with none of the datasets, or with
            several.
    """
    pairs = {name: {*each.pairs["pair_id"]} for name, each in datasets.items()}
    found: dict[str, list[Path]] = {name: [] for name in datasets}
    for folder in folders:
        own = {*read_run(folder)["pair_id"]}
        names = [name for name, known in pairs.items() if not known.isdisjoint(own)]
        if len(names) > 1:
            raise ScoringError(
                f"{folder}: shares pairs with {' and '.join(names)}; name one of them with --data"
            )
        if not names:
            raise ScoringError(
                f"{folder}: shares no pair with {' or '.join(datasets)}; name the data it was "
                "scored on with --data"
            )
        found[names[0]].append(folder)
    return found
