"""Scoring the parts of a run with Ray Data: a pool of actors, each of which holds the model.

A row of the Ray dataset is a part and not a context group. The actor that has scored a part writes
it atomically: if Ray assigns a part twice, it exists once, and a killed process, even the driver,
loses only unfinished parts. Rows of context groups would travel through the object store to a
single writer, and would be lost with the driver.
"""

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO, Unpack

from tqdm import tqdm

from nnd.metric.data import is_several
from nnd.metric.likelihood import Model, list_models
from nnd.metric.run.evaluation import Evaluation, Sweep
from nnd.metric.run.parts.job import Job, plan_job
from nnd.metric.run.parts.merging import merge
from nnd.metric.run.parts.part_file import is_finished
from nnd.metric.run.parts.ray_actor import PartActor, Setup
from nnd.metric.run.parts.ray_cluster import Pool, Ray, check_ray, connected, size_pool
from nnd.metric.run.run_request import RunOptions, RunRequest, with_run_options
from nnd.schemas import ScoringError

_CPUS = 0.5
"""CPUs that an actor reserves. If two actors reserve both CPUs of a machine, Ray's own tasks find
none, and the job hangs."""

_RETRIES = 3
"""Number of retries of a part whose actor has died."""


@with_run_options
def evaluate_on_ray(
    models: Model | Sequence[Model],
    data: Any,  # noqa: ANN401 - as of `evaluate`
    *,
    out: str | Path,
    ray: Ray = Ray(),
    **options: Unpack[RunOptions],
) -> Evaluation | Sweep:
    """Score pairs with models, in parts, by actors of Ray.

    Called again after it was interrupted, it scores only the parts that are missing. The store of
    likelihoods is not used.

    Args:
        models: Hub ids or folders that every machine of the cluster can read.
        data: Folders, Parquet files or datasets on the Hub that every machine can read.
        out: Folder of the run, which all machines share; for several datasets, it gets a subfolder
            for each.
        ray: Cluster and resources.
        **options: The other fields of `RunRequest`.

    Returns:
        The same as `evaluate`, up to rounding, because batches differ.

    Raises:
        ScoringError: If Ray is not installed, does not answer or has too few GPUs, data, a model or
            an option cannot be used, or a part cannot be scored; the message says which and why.
        NNDError: If `out` holds anything that nnd did not write, or cannot be written.
    """
    check_ray(ray)
    request = RunRequest(models, data, **options)
    _check_names([*list_models(models), *request.datasets().values()])
    job = plan_job(request, out)
    todo = {name: rows for name in job.models if (rows := _missing_parts(job, name))}
    setups = [_setup(job, name, request) for name in todo]
    if setups:
        with connected(ray.address):
            for setup in setups:
                rows = todo[setup.name]
                _score(setup, rows, size_pool(ray, len(rows)))
    merged = {key: merge(run.plan.run) for key, run in job.runs.items()}
    if not is_several(data):
        (evaluation,) = merged.values()
        return evaluation
    pairs = {key: run.plan.pair_set() for key, run in job.runs.items()}
    return Sweep(merged, pairs, (), {key: run.plan.run for key, run in job.runs.items()})


def _missing_parts(job: Job, model: str) -> list[dict[str, int]]:
    return [
        {"run": number, "part": part}
        for number, run in enumerate(job.runs.values())
        for part in range(run.plan.parts)
        if not is_finished(run.plan, model, part)
    ]


def _check_names(asked: Sequence[Any]) -> None:
    for argument in asked:
        if not isinstance(argument, str | Path):
            raise ScoringError(
                f"{type(argument).__name__}: Ray cannot use objects in memory; name a folder, a "
                "file or a Hub id"
            )


def _setup(job: Job, name: str, request: RunRequest) -> Setup:
    return Setup(
        Path.cwd(),
        job.models[name],  # type: ignore[arg-type] # checked by `_check_names`
        name,
        job.scorings[name],
        [(run.plan.run, run.data) for run in job.runs.values()],  # type: ignore[misc] # likewise
        replace(request, models=(), data=(), human_scores=None),
    )


def _score(setup: Setup, rows: list[dict[str, int]], pool: Pool) -> None:
    """Score parts of a model."""
    import ray  # noqa: PLC0415

    with _quiet() as screen:
        parts = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            PartActor,
            fn_constructor_args=(setup, pool.threads),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=pool.actors, max_tasks_in_flight_per_actor=2),
            num_cpus=_CPUS,
            num_gpus=pool.gpus,
            max_task_retries=_RETRIES,
        )
        unit, total = "part", len(rows)
        bar = tqdm(total=total, unit=unit, desc=setup.name, disable=None, leave=False, file=screen)
        with bar, _explained():
            for row in parts.iter_rows():
                if row["error"]:
                    raise ScoringError(row["error"])
                bar.update()


@contextmanager
def _quiet() -> Iterator[TextIO]:
    """Let Ray write only to its logs; yield a stream for our own standard error.

    Ray's core prints false alarms there (ray issue 53727), which are in its logs as well, and Ray
    2.60 has deprecated `max_task_retries` of `map_batches` without a replacement.
    """
    from ray.data import DataContext  # noqa: PLC0415

    logger = logging.getLogger("ray.data")
    level = logger.level
    with warnings.catch_warnings(), os.fdopen(os.dup(2), "w") as real:
        warnings.simplefilter("ignore", DeprecationWarning)
        context = DataContext.get_current().copy()
        context.enable_progress_bars = False
        context.execution_no_progress_timeout_s = -1  # a part may take a long time
        logger.setLevel(logging.ERROR)
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), 2)
        try:
            with DataContext.current(context):
                yield real
        finally:
            os.dup2(real.fileno(), 2)
            logger.setLevel(level)


@contextmanager
def _explained() -> Iterator[None]:
    from ray.exceptions import RayError  # noqa: PLC0415

    try:
        yield
    except RayError as error:
        reason = str(error).strip().splitlines()[-1]
        raise ScoringError(
            f"Ray gave up: {reason}; see its logs, and run the same command again to score the "
            "missing parts"
        ) from error
