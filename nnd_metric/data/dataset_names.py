"""Names of several datasets, which can serve as names of folders."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from nnd.metric.data.any_frames import PairData, name_of
from nnd.metric.data.pairs import PairSet
from nnd.metric.data.remote import is_url, stem_of
from nnd.schemas import ScoringError


def is_several(data: object) -> TypeGuard[Sequence[Any]]:
    """Whether data is a list of datasets; a list of dicts holds the rows of one dataset."""
    return isinstance(data, list | tuple) and not any(isinstance(entry, Mapping) for entry in data)


def only_of_one(argument: str) -> ScoringError:
    """Return the error for an argument that needs a single dataset."""
    return ScoringError(
        "option.conflict",
        f"{argument} (--{argument.replace('_', '-')}) works with a single dataset only",
        remedy="leave it out to use what comes with each dataset",
    )


def no_pairs(name: str) -> ScoringError:
    """Return the error for data without pairs."""
    return ScoringError(
        "data.no-pairs",
        "the data has no pairs, so models cannot be evaluated on it",
        name,
        "use `nnd metrics` to compare metrics with judgements of single candidates",
    )


def name_datasets(datasets: Sequence[PairData | PairSet]) -> list[str]:
    """Return a name for each dataset, at least one; all differ and can name a folder."""
    names = [_name(data) for data in datasets]
    if not names:
        raise ScoringError("input.missing", "no dataset was given")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ScoringError(
            "name.twice",
            f'two datasets are called "{repeated[0]}"',
            remedy="name each once, or rename the folder of one",
        )
    return names


def _name(data: PairData | PairSet) -> str:
    if isinstance(data, PairSet):
        return data.name.replace("/", "--")
    if not isinstance(data, str | Path):
        return name_of(data)
    if is_url(data):
        return stem_of(data)
    path = Path(data)
    if path.is_dir():
        return path.resolve().name
    if path.is_file():
        return path.stem
    organisation, slash, name = str(data).partition("@")[0].rpartition("/")
    on_the_hub = slash and organisation.strip("./") and "/" not in organisation
    return f"{organisation}--{name}" if on_the_hub else name
