"""The content of a report for each of several datasets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.data import (
    PairData,
    PairSet,
    is_several,
    load_pairs,
    only_of_one,
    read_origin,
    read_run,
)
from nnd.metric.numbers import (
    check_runs,
    find_protocols,
    group_runs,
    read_manners,
    slice_runs,
    split_by_dataset,
)
from nnd.metric.show.reports.content.report_content import ReportContent, gather
from nnd.schemas import ScoringError


def gather_each(
    folders: Sequence[Path],
    data: Any = None,  # noqa: ANN401 - one dataset, or a list of several
    *,
    human_scores: PairData | None = None,
    systems: Mapping[str, str] | None = None,
    families: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
) -> dict[str, ReportContent]:
    """Return dataset → its content in a report; a single dataset has an empty name.

    The arguments are those of `report`. Without `data`, runs that share pairs belong to one
    dataset.
    """
    if not mixed_rules:
        check_runs(folders)
    runs: dict[str, tuple[Any, list[Path], PairSet | None, Mapping[str, str] | None]] = {}
    if is_several(data):
        split = split_by_dataset(folders, data, systems)
        for of, (name, (texts, own, chosen)) in zip(data, split.items(), strict=True):
            if not own:
                raise ScoringError(
                    "run.another-dataset", "none of the runs was made on this dataset", name
                )
            runs[name] = (of, own, texts, chosen)
    else:
        pairs = None if data is None else load_pairs(data)
        grouped = group_runs(folders) if data is None and len(folders) > 1 else {}
        for name, own in grouped.items() if len(grouped) > 1 else [("", [*folders])]:
            runs[name] = (data, own, pairs, systems)
    if human_scores is not None and (len(runs) > 1 or is_several(data)):
        raise only_of_one("human_scores")
    manners = (each for folder in folders for each in read_manners(folder).values())
    protocols = len(find_protocols(manners)) > 1
    models = pl.concat([read_run(folder).select("model") for folder in folders])
    among = models["model"].unique(maintain_order=True).to_list()
    rules: dict[str, Any] = {"splits": splits, "mixed_rules": mixed_rules}
    return {
        name: replace(
            gather(
                own,
                texts,
                chosen,
                human_scores=human_scores,
                families=families,
                among=among,
                protocols=protocols,
                **rules,
            ),
            origin=None if of is None else read_origin(of),
            slices=slice_runs(own, of, by=by, **rules) if by else None,
        )
        for name, (of, own, texts, chosen) in runs.items()
    }
