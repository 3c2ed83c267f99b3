"""Scoring the parts of a run with Ray, which starts workers and restarts those that die.

Ray knows nothing of parts: it runs `score_share`, as the command of a worker does. Parts are files
that the workers write, so a killed process, even the driver, loses only unfinished parts.
"""

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from nnd.metric.likelihood import list_models
from nnd.metric.run.evaluation import Sweep
from nnd.metric.run.launchers.ray_cluster import Pool, Ray, connected, size_pool
from nnd.metric.run.launchers.worker_share import Share
from nnd.metric.run.launchers.workers import score_share
from nnd.metric.run.parts.job import Job, plan_job
from nnd.metric.run.parts.merging import merge
from nnd.metric.run.parts.part_shards import unfinished_parts
from nnd.metric.run.run_request import RunRequest
from nnd.schemas import NNDError, ScoringError

_CPUS = 0.5
"""CPUs that a worker reserves, so that there is room for two on any machine."""

_RETRIES = 3
"""How often Ray starts a worker again that has died."""

_POLL_S = 2.0
"""Seconds between two looks at the finished parts."""


def evaluate_on_ray(request: RunRequest, out: str | Path, ray: Ray) -> Sweep:
    """Score a request in parts, by workers that Ray starts, and merge them.

    Called again after it was interrupted, it scores only the parts that are missing. Models and
    data are given by names or paths, which every machine of the cluster can read.
    """
    _check_names([*list_models(request.models), *request.datasets().values()])
    job = plan_job(request, out)
    todo = sum(1 for name in job.models for _ in unfinished_parts(job, name))
    if todo:
        with connected(ray.address), _explained():
            _run_workers(job, request, Path(out), size_pool(ray, todo))
    merged = {key: merge(run.plan.run) for key, run in job.runs.items()}
    pairs = {key: run.plan.pair_set() for key, run in job.runs.items()}
    return Sweep(merged, pairs, (), {key: run.plan.run for key, run in job.runs.items()})


def _check_names(asked: Sequence[Any]) -> None:
    for argument in asked:
        if not isinstance(argument, str | Path):
            raise ScoringError(
                "ray.shared-folder",
                "Ray cannot use objects in memory",
                type(argument).__name__,
                "name a folder, a file or a Hub id",
            )


def _run_workers(job: Job, request: RunRequest, out: Path, pool: Pool) -> None:
    """Let Ray run workers until all have ended, or one of them reports an error."""
    import ray  # noqa: PLC0415

    start = ray.remote(
        num_cpus=_CPUS, num_gpus=pool.gpus, max_retries=_RETRIES, scheduling_strategy="SPREAD"
    )(score_on_ray)
    shares = [Share(number + 1, pool.workers) for number in range(pool.workers)]
    running = [start.remote(Path.cwd(), request, out, share, pool.threads) for share in shares]
    try:
        # Ray prints that a worker died, and standard output is for results.
        with (
            redirect_stdout(sys.stderr),
            tqdm(total=job.parts, unit="part", disable=None, leave=False) as bar,
        ):
            while running:
                ended, running = ray.wait(running, timeout=_POLL_S)
                for error in filter(None, ray.get(ended)):
                    raise error
                bar.update(job.parts - sum(job.left().values()) - bar.n)
    finally:
        for worker in running:
            ray.cancel(worker, force=True)


def score_on_ray(
    folder: Path, request: RunRequest, out: Path, share: Share, threads: int
) -> NNDError | None:
    """Score a share on a machine of the cluster; return an error that names the machine, or None.

    Ray would wrap a raised error in a traceback of its own. The request has names and options,
    never a model or texts; relative paths refer to `folder`, the working folder of the command.
    """
    torch.set_num_threads(threads)
    try:
        if not (folder / out).is_dir():
            raise ScoringError(
                "ray.shared-folder",
                "this machine cannot read the folder of the run",
                folder,
                "start the command in a folder that all machines share, and name one with --out",
            )
        os.chdir(folder)
        score_share(plan_job(request, out), request.loading, share)
    except NNDError as error:
        remedy = f"{error.remedy} (on {socket.gethostname()})"
        return ScoringError(error.code, error.what, error.where, remedy)
    except (OSError, MemoryError, torch.OutOfMemoryError) as error:
        return ScoringError("worker.failed", f"{error} (on {socket.gethostname()})")
    return None


@contextmanager
def _explained() -> Iterator[None]:
    from ray.exceptions import RayError  # noqa: PLC0415

    try:
        yield
    except RayError as error:
        reason = str(error).strip().splitlines()[-1]
        raise ScoringError("ray.gave-up", f"Ray gave up: {reason}") from error
