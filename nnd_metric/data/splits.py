"""Which splits of a dataset are scored by default, and how they are named."""

from collections.abc import Iterable, Sequence

import polars as pl

from nnd.schemas import ScoringError, check_known

TEST = "test"

_OTHERS = {
    *("train", "training"),
    *("valid", "validation", "val", "dev", "devel", "development"),
}
"""Names of splits to train on and to choose models with."""


def default_splits(known: Iterable[str]) -> list[str]:
    """Return the splits to score by default: `test` if all others are to train on, else all."""
    splits = sorted({*known})
    others = {split.lower() for split in splits if split != TEST}
    return [TEST] if TEST in splits and others <= _OTHERS else splits


def splits_in(pairs: pl.DataFrame) -> list[str]:
    """Return the names of the splits of some pairs, sorted."""
    return pairs["split"].drop_nulls().unique().sort().to_list()


def check_splits(data: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Check that some data has splits."""
    check_known("split", names, known, data, family=ScoringError)


def describe_splits(splits: Sequence[str]) -> str:
    """Return the names of splits as a phrase: `split test`, or `splits test and valid`."""
    return f"split{'s' if len(splits) > 1 else ''} {' and '.join(splits)}"
