"""Pairs and annotations of any data, for reading."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from nnd.converters.folder import Examples, annotation_examples, convert, pair_examples
from nnd.metric.data import PairData, choose_categories, load_pairs
from nnd.schemas import ScoringError, read_frame


def show(
    data: PairData,
    *,
    origin: str | Path | None = None,
    category: Sequence[str] = (),
    n: int = 5,
    annotations: bool = False,
    whole: bool = False,
) -> Examples:
    """Show a few pairs; the words that differ are marked.

    Error categories take turns, the most frequent first; within each, pairs are ordered by id.

    Args:
        data: What to show. In Python, it can also be a folder with a source.yaml, which is
            converted in memory: its convert.py runs with your permissions.
        origin: Folder or file with the annotations of a source, which is converted in memory.
        category: Only pairs of this error category.
        n: Largest number of pairs.
        annotations: Whether to show the annotations of candidates instead of pairs, aspects and
            labels in turn. In Python, this needs a converted folder or a source.
        whole: Whether to show long texts in full.

    Raises:
        NNDError: If the data cannot be read, or the source cannot be converted.
        ScoringError: If no pair has one of the error categories.

    Examples:
        nnd show quiz_design -n 3
        nnd show ./my_source --from ratings.csv --annotations
    """
    if n < 1:
        raise ScoringError("option.bad-value", where=f"-n {n}", remedy="give 1 pair or more")
    is_source = isinstance(data, str | Path) and (Path(data) / "source.yaml").is_file()
    converted = None
    if isinstance(data, str | Path) and (is_source or origin is not None):
        converted = convert(data, origin=origin)
    if annotations:
        if category:
            raise ScoringError(
                "option.conflict",
                "--category applies to pairs only",
                remedy="leave out --category or --annotations",
            )
        if converted is not None:
            name, rows = converted.manifest["source"]["name"], converted.annotations
        else:
            name, rows = _annotations(data)
        return annotation_examples(name, rows, n, whole=whole)
    pairs = load_pairs(data if converted is None else converted.pairs)
    if converted is not None:
        pairs = replace(pairs, name=converted.manifest["source"]["name"])
    chosen = choose_categories(pairs, category)
    return pair_examples(chosen.title, chosen.pairs, n, whole=whole)


def _annotations(data: PairData) -> tuple[str, pl.DataFrame]:
    if not isinstance(data, str | Path):
        raise ScoringError("data.not-converted", "a table of pairs has no annotations")
    return Path(data).resolve().name, read_frame(Path(data), "annotations")
