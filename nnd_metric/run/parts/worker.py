"""The work of one worker: the unfinished parts of its share."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import torch
from tqdm import tqdm

from nnd.metric.likelihood import LoadedModel, Loading, Model, Scoring, load_model
from nnd.metric.run.parts.job import PlannedRun, plan_job
from nnd.metric.run.parts.part_file import is_finished
from nnd.metric.run.parts.part_scorer import PartScorer
from nnd.metric.run.parts.run_plan import Plan
from nnd.metric.run.parts.worker_report import WorkerReport
from nnd.metric.run.parts.worker_share import Share, Worker, find_share
from nnd.metric.run.run_request import RunOptions, RunRequest, with_run_options
from nnd.schemas import ScoringError


@with_run_options
def evaluate_parts(
    models: Model | Sequence[Model],
    data: Any,  # noqa: ANN401 - as of `evaluate`
    *,
    out: str | Path,
    worker: Worker = "auto",
    **options: Unpack[RunOptions],
) -> WorkerReport:
    """Score one worker's share of a run.

    `merge` joins the finished shares. Every worker gets the same arguments except its number.
    Workers do not wait for each other. A worker that is started again scores the missing parts of
    its share; the number of workers may have changed. Two workers with the same number score the
    same parts, which is harmless. The store of likelihoods is not used.

    Args:
        models: Models, as in `evaluate`.
        data: What to score. Folders and Parquet files are read a row group at a time, unless only
            some of their pairs are scored. In Python, pairs, or a list of several datasets.
        out: Folder of the run, the same for all workers; for several datasets, it gets a subfolder
            for each.
        worker: Score the share of worker I of N; all write to the same folder. auto takes I and N
            from torchrun, which also says on which GPU, or from a Slurm array. `nnd merge` makes a
            run of all shares.
        **options: The other fields of `RunRequest`.

    Returns:
        The numbers of scored and of remaining parts.

    Raises:
        ScoringError: If data, a model or an option cannot be used, earlier workers had other
            arguments, or loaded another model; the message says which and why.
        OSError: If a part cannot be written.
    """
    share = find_share(worker)
    request = RunRequest(models, data, **options)
    job = plan_job(request, out)
    planned, done = [*job.runs.values()], 0
    for name, model in job.models.items():
        todo = [run for run in planned if next(_todo(run.plan, name, share), None) is not None]
        if todo:
            done += _score(
                _load(model, name, request.loading, share), job.scorings[name], todo, share
            )
    left = {run.plan.run: sum(len(run.plan.missing(n)) for n in job.models) for run in planned}
    parts = sum(run.plan.parts for run in planned) * len(job.models)
    return WorkerReport(share.number, share.of, done, left, parts)


def _todo(plan: Plan, model: str, share: Share) -> Iterator[int]:
    """Yield the parts of a share that are not finished when their turn comes."""
    for part in range(plan.parts):
        if share.has(part) and not is_finished(plan, model, part):
            yield part


def _score(loaded: LoadedModel, scoring: Scoring, planned: list[PlannedRun], share: Share) -> int:
    version, done = loaded.version(), 0
    for plan, stream, _ in planned:
        scorer = PartScorer(plan, stream, loaded, scoring, version)
        with tqdm(unit="part", desc=loaded.name, disable=None, leave=False) as bar:
            for part in _todo(plan, loaded.name, share):
                scorer(part)
                done += bar.update() is not False
    return done


def _load(model: Model, name: str, loading: Loading, share: Share) -> LoadedModel:
    if isinstance(model, LoadedModel):
        return model
    placed = replace(loading, device=loading.device or _local_device(share))
    return replace(load_model(model, placed), name=name)


def _local_device(share: Share) -> str | None:
    """Return the GPU of a process that torchrun started; None means the fastest device."""
    devices = torch.cuda.device_count()
    if share.local is None or devices <= 1:  # one visible GPU may differ between processes
        return None
    if share.local >= devices:
        raise ScoringError(
            f"torchrun started process {share.local + 1} on a machine with {devices} GPUs; give "
            f"--nproc-per-node {devices}"
        )
    return f"cuda:{share.local}"
