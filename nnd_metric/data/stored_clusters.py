"""Which pairs of stored runs belong together: clusters of contexts, which older runs lack."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from nnd.metric.data.pairs import PairSet
from nnd.metric.data.run_folder import open_result
from nnd.schemas import listed


def cluster_of_runs(folders: Sequence[Path], data: PairSet | None = None) -> str | None:
    """Return what the data, or a run on it, calls clusters of contexts; None if unknown."""
    if data is not None and data.cluster is not None:
        return data.cluster
    for folder in folders:
        with open_result(folder) as found:
            names = (each.get("cluster") for each in found.get("results", ()))
            if name := next((name for name in names if name is not None), None):
                return str(name)
    return None


def fill_clusters(
    runs: Sequence[pl.DataFrame], data: pl.DataFrame | None = None
) -> list[pl.DataFrame]:
    """Return the rows of runs, with the clusters that other runs or the data have for their pairs.

    The rows have pair_id and cluster, as those of the `data` have.
    """
    sources = [
        rows.select("pair_id", "cluster") for rows in (*runs, *([] if data is None else [data]))
    ]
    known = [rows.drop_nulls() for rows in sources]
    lacking = [rows["cluster"].null_count() > 0 for rows in runs]
    if not any(lacking) or all(rows.is_empty() for rows in known):
        return [*runs]
    by_pair = pl.concat(known).unique("pair_id", keep="first", maintain_order=True)
    return [
        _filled(rows, by_pair) if lacks else rows for rows, lacks in zip(runs, lacking, strict=True)
    ]


def _filled(rows: pl.DataFrame, by_pair: pl.DataFrame) -> pl.DataFrame:
    found = rows.select("pair_id").join(by_pair, on="pair_id", how="left", maintain_order="left")
    return rows.with_columns(cluster=pl.coalesce(pl.col("cluster"), found["cluster"]))


def missing_clusters(
    folders: Sequence[Path], rows: pl.DataFrame, *, takes_data: bool = True
) -> str | None:
    """Return a note on runs on one dataset that do not say which contexts share a text, or None.

    `rows` are theirs, after `fill_clusters`. Where one of the runs says it, it is known for all.
    `takes_data` says whether the command could take the clusters from the data.
    """
    older = [folder for folder in folders if _is_older(folder)]
    if len(older) < len(folders) or rows["cluster"].null_count() < rows.height:
        return None
    of = listed([str(folder) for folder in older])
    return (
        f"{of}: stored by an older version of nnd, which did not say which contexts share a text, "
        "such as a paragraph; where some do, intervals and p-values are too optimistic. "
        f"{'Name the data, or evaluate' if takes_data else 'Evaluate'} again (quick, because "
        "likelihoods are stored)"
    )


def _is_older(folder: Path) -> bool:
    with open_result(folder) as found:
        results = found.get("results", ())
        return bool(results) and not any("clusters" in each for each in results)
