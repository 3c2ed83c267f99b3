"""Parts of a run as shards: read before they are scored, written when they are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import Any

import polars as pl

from nnd.metric.data import PairSet
from nnd.metric.run.model_result import ScoredModel
from nnd.metric.run.parts.cutting import digest_of
from nnd.metric.run.parts.job import Job, PlannedRun
from nnd.metric.run.parts.joined_result import without_rates
from nnd.metric.run.parts.part_file import (
    ROWS,
    DamagedPartError,
    Footer,
    check_made_alike,
    is_finished,
    planned_rows,
    read_footer,
    write_part,
)
from nnd.metric.run.parts.run_plan import Plan
from nnd.metric.run.scoring_task import Shard
from nnd.schemas import ScoringError

_LIBRARIES = ("torch", "transformers", "tokenizers")


def unfinished_parts(
    job: Job, model: str, is_mine: Callable[[int], bool] = lambda _: True
) -> Iterator[tuple[str, int]]:
    """Yield the dataset and number of parts that are missing or damaged when their turn comes."""
    for dataset, run in job.runs.items():
        for part in range(run.plan.parts):
            if is_mine(part) and not is_finished(run.plan, model, part):
                yield dataset, part


def unfinished_shards(job: Job, is_mine: Callable[[int], bool], model: str) -> Iterator[Shard]:
    """Yield the parts that are mine, and are not finished when their turn comes."""
    for dataset, part in unfinished_parts(job, model, is_mine):
        run = job.runs[dataset]
        scoring = replace(job.scorings[model], template=run.plan.models[model])
        yield Shard(dataset, part, _read(run, part), scoring)


def _read(run: PlannedRun, part: int) -> PairSet:
    """Return the pairs of a part."""
    plan, stream, frames = run.plan, run.stream, {}
    spans = plan.spans_of(part)
    for table in stream.tables:
        pairs, digests = stream.rows(table, spans.get(table, []))
        if digest_of(digests) != plan.digest_of(part, table):
            raise ScoringError(
                "run.another-plan",
                f"the texts were changed after {plan.run} was planned",
                stream.about.name,
            )
        frames[table] = pairs
    about = plan.pair_set()
    sets = tuple(replace(each, pairs=frames[each.name]) for each in about.sets)
    # The plan has only the digests of the instruction.
    return replace(about, pairs=frames[""], sets=sets, instruction=stream.about.instruction)


def keep_part(plan: Plan, part: int, scored: ScoredModel) -> None:
    """Write the scores of a part."""
    pairs = scored.pairs.with_columns(table=pl.lit(""), parent_id=pl.lit(None, pl.String))
    rows = pl.concat([pairs, scored.children.rename({"set": "table"})], how="diagonal")
    rows = rows.with_columns(planned_rows(plan, part)["row"]).select(ROWS.names())
    result = without_rates(scored.result)
    footer = Footer(plan.digest, part, _made_by(result), result)
    _check_alike(plan, scored.result.model, footer)
    write_part(plan.path(scored.result.model, part), rows, footer, scored.cost)


def _check_alike(plan: Plan, model: str, footer: Footer) -> None:
    """Compare with an existing part, and check that the run still exists."""
    if not plan.is_there():
        raise ScoringError("run.already-merged", "the run was merged in the meantime", plan.run)
    own = plan.path(model, footer.part)
    for path in sorted(own.parent.glob("*.parquet")):
        if path != own:
            try:
                other = read_footer(plan, model, int(path.stem))
            except DamagedPartError:
                continue
            check_made_alike(path, other.made_by, footer.made_by)
            return


def _made_by(result: Mapping[str, Any]) -> dict[str, Any]:
    names = ("model", "version", "dtype", "quantised", "parameters", "signature")
    return {name: result[name] for name in names} | _libraries()


@cache
def _libraries() -> dict[str, str]:
    return {name: version(name) for name in _LIBRARIES}
