"""The work of one worker: the unfinished parts of its share."""

from contextlib import closing
from dataclasses import replace
from functools import partial

import torch

from nnd.metric.likelihood import Loading
from nnd.metric.run.launchers.here import score_here
from nnd.metric.run.launchers.worker_report import WorkerReport
from nnd.metric.run.launchers.worker_share import Share
from nnd.metric.run.parts.job import Job
from nnd.metric.run.parts.part_shards import keep_part, unfinished_shards
from nnd.metric.run.scoring_task import ScoringTask
from nnd.metric.run.survival import Trouble
from nnd.schemas import ScoringError


def score_share(job: Job, loading: Loading, share: Share) -> WorkerReport:
    """Score the unfinished parts of a share.

    Workers do not wait for each other; two with the same number score the same parts, which is
    harmless. SQLite is unsafe on network file systems, so the store of likelihoods is not used.
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
            remedy=f"start torchrun with --nproc-per-node {devices}",
        )
    return f"cuda:{share.local}"
