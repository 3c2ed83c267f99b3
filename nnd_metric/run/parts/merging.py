"""Merge the parts of a run into the files that a single run writes.

Parts are read and written one after the other, in the order of the plan, so the required memory
does not depend on the number of pairs; the results are then computed from the file.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl

from nnd.metric.data import ALONE_SCHEMA, LIKELIHOODS, PARTS, RESULT, SETS, STORED, STORED_SETS
from nnd.metric.run.evaluation import Evaluation
from nnd.metric.run.model_cost import COST, cost_bytes
from nnd.metric.run.parts.joined_result import has_baseline
from nnd.metric.run.parts.joining import join
from nnd.metric.run.parts.part_file import (
    DamagedPartError,
    Footer,
    check_made_alike,
    cost_path,
    joined_cost,
    read_footer,
    read_part,
)
from nnd.metric.run.parts.row_writer import write_pieces
from nnd.metric.run.parts.run_plan import HUMAN_SCORES, PLAN, SPANS, Plan, read_plan
from nnd.schemas import (
    ScoringError,
    list_files,
    listed,
    parquet_bytes,
    replace_folder,
    write_document,
)

_NO_BASELINE = [pl.lit(None, dtype).alias(name) for name, dtype in ALONE_SCHEMA.items()]

_TEMPORARY = re.compile(r"\.\d+\.(parquet|cost\.json)\.[0-9a-f]{8}")


def merge(run: str | Path) -> Evaluation:
    """Merge the parts of all workers into one run.

    It checks that all parts exist, are undamaged and were made with the same options, and names
    those that are not: workers that are started again score only these. result.json and
    log_likelihoods.parquet take the place of the parts once they are written.

    Args:
        run: The folder that all workers wrote to.

    Returns:
        The same as `evaluate`, up to rounding, because batches differ, and without the rows
        (`scored`), which may be too many for memory: they are in log_likelihoods.parquet.

    Raises:
        ScoringError: If a part is missing, damaged or of another plan, or parts were made by
            different weights or versions; the message names it.
        NNDError: If the folder holds anything that nnd did not write, or cannot be written.

    Examples:
        nnd merge run
    """
    folder = Path(run)
    _check_run(folder)
    plan = read_plan(folder)
    _check_complete(plan)
    _check_only_ours(plan)
    with replace_folder(folder, document=RESULT, scaffold=PARTS) as fresh:
        footers = _write_rows(plan, fresh)
        costs = [cost for model in plan.models for cost in joined_cost(plan, model)]
        merged = replace(join(plan, fresh, footers), costs=tuple(costs))
        files = [LIKELIHOODS, SETS] if plan.pair_set().sets else [LIKELIHOODS]
        facts = {**merged.to_dict(), "outputs": list_files(fresh, files)}
        write_document(fresh, facts, document=RESULT)
        if costs:
            (fresh / COST).write_bytes(cost_bytes(costs))
    return merged


def _check_run(folder: Path) -> None:
    """Refuse folders that users may name by mistake: those of several runs or of a merged one."""
    if (folder / PARTS).is_dir():
        return
    if (folder / RESULT).is_file():
        raise ScoringError(
            "run.already-merged", "already merged", folder, f"read it with: nnd report {folder}"
        )
    inside = sorted(path.parent.parent for path in folder.glob(f"*/{PARTS}/{PLAN}"))
    if inside:
        raise ScoringError(
            "run.several-datasets",
            "this folder holds a run for each dataset",
            folder,
            f"merge each of them, for example: nnd merge {inside[0]}",
        )


def _check_complete(plan: Plan) -> None:
    for model in plan.models:
        missing = plan.missing(model)
        if missing:
            names = listed([plan.path(model, part).name for part in missing])
            raise ScoringError(
                "run.parts-missing",
                f"{len(missing):,} of {plan.parts:,} parts are missing: {names}",
                plan.path(model, 0).parent,
                "run the workers again, which then score only these",
            )


def _check_only_ours(plan: Plan) -> None:
    """Check that nnd wrote everything in the folder of parts, which will be removed."""
    folder = plan.run / PARTS
    ours = {folder / name for name in (PLAN, SPANS, HUMAN_SCORES)}
    for model in plan.models:
        parts = [plan.path(model, part) for part in range(plan.parts)]
        ours.update(parts, map(cost_path, parts))
    ours.update([path.parent for path in ours])
    for path in folder.rglob("*"):
        inside = [path, *path.parents]
        if path not in ours and not any(_TEMPORARY.fullmatch(each.name) for each in inside):
            raise ScoringError(
                "place.foreign-files",
                "nnd did not write this file",
                path,
                "move it away, and merge again",
            )


def _write_rows(plan: Plan, fresh: Path) -> dict[str, list[Footer]]:
    """Write the rows of all parts; return the footers of each model's parts."""
    damage: dict[str, str] = {}
    footers = {model: list(_footers(plan, model, damage)) for model in plan.models}
    children = [pl.DataFrame(schema=STORED_SETS)]

    def pairs() -> Iterator[pl.DataFrame]:
        for model in plan.models:
            of_sets = []
            baseline = has_baseline([footer.result for footer in footers[model]])
            for rows in _rows(plan, model, damage):
                stored = rows if baseline else rows.with_columns(_NO_BASELINE)
                yield stored.filter(pl.col("set") == "").select(STORED.names())
                of_sets.append(stored.filter(pl.col("set") != ""))
            children.extend([_in_order(plan, pl.concat(of_sets))] if of_sets else [])

    write_pieces(fresh / LIKELIHOODS, STORED, pairs())
    if damage:
        faults = "; ".join(dict.fromkeys(damage.values()))
        raise DamagedPartError("run.parts-missing", faults, listed([*damage]))
    if plan.pair_set().sets:
        (fresh / SETS).write_bytes(parquet_bytes(pl.concat(children)))
    return footers


def _footers(plan: Plan, model: str, damage: dict[str, str]) -> Iterator[Footer]:
    first = None
    for part in range(plan.parts):
        with _collected(damage):
            footer = read_footer(plan, model, part)
            first = first or footer
            check_made_alike(plan.path(model, first.part), first.made_by, footer.made_by)
            yield footer


def _rows(plan: Plan, model: str, damage: dict[str, str]) -> Iterator[pl.DataFrame]:
    """Yield the rows of each part: the columns of STORED_SETS, and `row`."""
    for part in range(plan.parts):
        with _collected(damage):
            rows = read_part(plan, model, part)
            yield rows.rename({"table": "set"}).with_columns(model=pl.lit(model))


@contextmanager
def _collected(damage: dict[str, str]) -> Iterator[None]:
    """Record a damaged part and continue, to report all damaged parts in one error."""
    try:
        yield
    except DamagedPartError as error:
        damage[error.where] = error.what


def _in_order(plan: Plan, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of sets in the order in which a single run writes them."""
    names = pl.Enum([each.name for each in plan.pair_set().sets])
    return rows.sort(pl.col("set").cast(names), "row").select(STORED_SETS.names())
