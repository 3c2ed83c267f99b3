"""Descriptive statistics of the texts of any data."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from nnd.converters.folder import Description, Descriptions, describe_pairs
from nnd.metric.data import PairData, load_pairs, parts_of
from nnd.metric.numbers import measure, pairs_by, pairs_where, with_seen
from nnd.metric.other_metrics import match_references, read_references, references_in
from nnd.schemas import ScoringError, find_frame


def describe(
    data: PairData,
    *,
    by: str | Sequence[str] = (),
    where: str | None = None,
    training_texts: str | Path | None = None,
    window: int = 100,
) -> Description | Descriptions:
    """Describe better and worse candidates side by side.

    Reports lengths, distinct-n, MSTTR, entropies and Yule's I; with references, also ROUGE, BLEU,
    chrF and local recall. Warns if a surface metric, such as length, would pass the tests.

    Args:
        data: What to describe. References are those of a converted folder, else parts of the
            contexts called reference, reference_1 and so on.
        by: Describe each slice of these axes, which are those of `nnd slice`, such as
            error_category or length.
        where: Only pairs that meet this condition in SQL, as in `nnd slice`.
        training_texts: Texts that models were trained on, for the axis seen, as in `nnd slice`.
        window: Window of MSTTR, in tokens.

    Raises:
        ScoringError: If the data cannot be read, or the window is below 1.

    Examples:
        nnd describe quiz_design
        nnd describe quiz_design --by error_category
        nnd describe quiz_design --where "length < 500"
    """
    if window < 1:
        raise ScoringError(
            "option.bad-value",
            where=f"--window {window}",
            remedy="give a window of 1 token or more",
        )
    data_set = load_pairs(data)
    references = pl.Series("references", _references(data, data_set.pairs), pl.List(pl.String))
    whole = with_seen(data_set.pairs.with_columns(references), training_texts)
    annotations = _stored(data, "annotations")
    pairs = pairs_where(whole, where, annotations)
    name = data_set.name if where is None else f"{data_set.name} ({where})"
    if not by:
        return _describe(name, pairs, window)
    axes = [by] if isinstance(by, str) else by
    parts = pairs_by(pairs, axes, annotations)
    return Descriptions(name, {each: _describe(each, of, window) for each, of in parts.items()})


def _describe(name: str, pairs: pl.DataFrame, window: int) -> Description:
    return describe_pairs(name, pairs.hstack(measure(pairs)), window=window)


def _references(data: PairData, pairs: pl.DataFrame) -> list[tuple[str, ...]]:
    stored = _stored(data, "references")
    if stored is None:
        return [references_in(parts) for parts in parts_of(pairs)]
    return match_references(pairs, read_references(stored))


def _stored(data: PairData, name: str) -> pl.DataFrame | None:
    """Return another table of a converted folder; None for other data."""
    is_folder = isinstance(data, str | Path) and Path(data).is_dir()
    return find_frame(Path(str(data)), name) if is_folder else None
