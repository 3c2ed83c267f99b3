"""Descriptive statistics of the texts of any data."""

from pathlib import Path

import polars as pl

from nnd.converters.folder import Description, describe_pairs
from nnd.metric.data import PairData, load_pairs, parts_of
from nnd.metric.numbers import measure
from nnd.metric.other_metrics import match_references, read_references, references_in
from nnd.schemas import ScoringError, find_frame


def describe(data: PairData, *, window: int = 100) -> Description:
    """Describe better and worse candidates side by side.

    Reports lengths, distinct-n, MSTTR, entropies and Yule's I; with references, also ROUGE, BLEU,
    chrF and local recall. Warns if a surface metric, such as length, would pass the tests.

    Args:
        data: What to describe. References are those of a converted folder, else parts of the
            contexts called reference, reference_1 and so on.
        window: Window of MSTTR, in tokens.

    Raises:
        ScoringError: If the data cannot be read, or the window is below 1.

    Examples:
        nnd describe quiz_design
    """
    if window < 1:
        raise ScoringError(
            "option.bad-value",
            where=f"--window {window}",
            remedy="give a window of 1 token or more",
        )
    data_set = load_pairs(data)
    references = pl.Series("references", _references(data, data_set.pairs), pl.List(pl.String))
    pairs = pl.concat(
        [data_set.pairs.with_columns(references), measure(data_set.pairs)], how="horizontal"
    )
    return describe_pairs(data_set.name, pairs, window=window)


def _references(data: PairData, pairs: pl.DataFrame) -> list[tuple[str, ...]]:
    is_folder = isinstance(data, str | Path) and Path(data).is_dir()
    stored = find_frame(Path(str(data)), "references") if is_folder else None
    if stored is None:
        return [references_in(parts) for parts in parts_of(pairs)]
    return match_references(pairs, read_references(stored))
