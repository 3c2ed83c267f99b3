"""Metrics on parts of the data: the pairs that meet a condition, or the slices of an axis.

The candidates of a part, and the judgements of them, are those of the contexts of its pairs. The
human scores of systems stay those of the whole data, so that correlations over systems ask whether
a metric on this part ranks the systems as people do over all.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from nnd.metric.numbers import pairs_by, pairs_where, with_seen
from nnd.metric.other_metrics.judged_candidates import CANDIDATE, JudgedCandidates
from nnd.metric.other_metrics.metric_table import MetricTables
from nnd.schemas import CONTEXT, counted, find_frame


class MetricSlices(MetricTables):
    """NND compared with other metrics on several slices of one dataset, by their names."""

    noun = "slice"

    def headline(self) -> str:
        """Return the number of slices."""
        return f"Metrics on {counted(len(self.datasets), 'slice')}; a pair may be in several."


def where_judged(
    judged: JudgedCandidates,
    folder: str | Path,
    where: str | None,
    training_texts: str | Path | None,
) -> JudgedCandidates:
    """Return the pairs that meet a condition (`pairs_where`), with their candidates."""
    if where is None and training_texts is None:
        return judged
    pairs = with_seen(judged.pairs.pairs, training_texts)
    pairs = pairs_where(pairs, where, find_frame(Path(folder), "annotations"))
    return _part(judged, pairs)


def slices_of(
    judged: JudgedCandidates, folder: str | Path, by: Sequence[str]
) -> dict[str, JudgedCandidates]:
    """Return the name of a slice (`pairs_by`) → its pairs, with their candidates."""
    annotations = find_frame(Path(folder), "annotations")
    parts = pairs_by(judged.pairs.pairs, by, annotations)
    return {name: _part(judged, pairs) for name, pairs in parts.items()}


def _part(judged: JudgedCandidates, pairs: pl.DataFrame) -> JudgedCandidates:
    candidates = judged.candidates.join(
        pairs, on=[*CONTEXT], how="semi", nulls_equal=True, maintain_order="left"
    )
    human = judged.human.join(
        candidates, on=CANDIDATE, how="semi", nulls_equal=True, maintain_order="left"
    )
    return replace(
        judged, pairs=replace(judged.pairs, pairs=pairs), candidates=candidates, human=human
    )
