"""The work of one worker: the unfinished parts of its share."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import torch

from nnd.metric.likelihood import Loading, Model
from nnd.metric.run.launchers.here import score_here
from nnd.metric.run.launchers.worker_report import WorkerReport
from nnd.metric.run.launchers.worker_share import Share, Worker, find_share
from nnd.metric.run.parts.job import Job, plan_job
from nnd.metric.run.parts.part_shards import keep_part, unfinished_shards
from nnd.metric.run.run_request import RunOptions, RunRequest, with_run_options
from nnd.metric.run.scoring_task import ScoringTask
from nnd.metric.run.survival import Trouble
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
    return score_share(plan_job(request, out), request.loading, share)


def score_share(job: Job, loading: Loading, share: Share) -> WorkerReport:
    """Score the unfinished parts of a share.

    The store of likelihoods is not used, because SQLite is unsafe on network file systems.
    """
    plans, done = [run.plan for run in job.runs.values()], 0
    missing = (part for model in job.models for plan in plans for part in plan.missing(model))
    task = ScoringTask(
        job.models,
        partial(unfinished_shards, job, share.has),
        total=sum(map(share.has, missing)),
        scorings={name: replace(each, cache=False) for name, each in job.scorings.items()},
        loading=replace(loading, device=loading.device or _local_device(share)),
        trouble=Trouble(fatal=True),
    )
    with closing(score_here(task)) as shards:
        for dataset, part, scored in shards:
            keep_part(job.runs[dataset].plan, part, scored)
            done += 1
    return WorkerReport(share.number, share.of, done, job.left(), job.parts)


def _local_device(share: Share) -> str | None:
    """Return the GPU of a process that torchrun started; None means the fastest device."""
    devices = torch.cuda.device_count()
    if share.local is None or devices <= 1:  # one visible GPU may differ between processes
        return None
    if share.local >= devices:
        raise ScoringError(
            "worker.gpus",
            f"torchrun started process {share.local + 1} on a machine with {devices} GPUs",
            remedy=f"give --nproc-per-node {devices}",
        )
    return f"cuda:{share.local}"
