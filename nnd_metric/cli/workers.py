"""Workers that share a run, and the command that merges their parts. Imports are local."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnd.metric.cli.printing import AsJson, Details, show_result
from nnd.metric.cli.shared_options import RUN
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric.run import Sweep, WorkerReport

Worker = Annotated[
    str | None,
    typer.Option(
        metavar="I/N|auto",
        help="Score the share of worker I of N; all write to the same --out. auto takes I and N "
        "from torchrun or a Slurm array. `nnd merge` makes a run of all shares.",
        rich_help_panel=RUN,
    ),
]

RAY = "Ray"
"""Headings of option groups in the help."""

OnRay = Annotated[
    bool,
    typer.Option(
        "--ray",
        help="Score in parts, by actors of Ray Data: on the cluster that RAY_ADDRESS names, else "
        "on this machine. Needs --out, in a folder that all machines share.",
        rich_help_panel=RAY,
    ),
]

RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="The same on a cluster that this machine is part of.",
        rich_help_panel=RAY,
    ),
]

NumGPUs = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="N",
        help="GPUs per actor; with 0.5, two actors share a GPU.",
        show_default="1 if there are any",
        rich_help_panel=RAY,
    ),
]

NumActors = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of actors; each holds the model.",
        show_default="as many as the GPUs allow, else one on each machine",
        rich_help_panel=RAY,
    ),
]


def score_share(
    models: Sequence[str],
    data: Sequence[str | Path],
    worker: str,
    *,
    alone: bool,
    out: Path | None,
    **chosen: Any,  # noqa: ANN401 - options of `evaluate_parts`, each of its own type
) -> "WorkerReport":
    """Score the share of a worker (I/N, or auto); `alone` if all options are of its kind."""
    from nnd.metric.run import evaluate_parts, read_worker

    if out is None:
        raise ScoringError("--worker needs --out, the folder to which all workers write")
    if not alone:
        raise ScoringError(
            "--worker scores a share of the pairs; leave out --details and --push-to-model-card"
        )
    asked = data[0] if len(data) == 1 else list(data)
    return evaluate_parts(models, asked, out=out, worker=read_worker(worker), **chosen)


def scorer_on_ray(
    asked: bool,  # noqa: FBT001 - as typer has it
    address: str | None,
    num_gpus: float | None,
    num_actors: int | None,
    *,
    worker: str | None,
    out: Path | None,
) -> "Callable[..., Sweep] | None":
    """Return a function that scores datasets with Ray as `evaluate` does; None without --ray.

    The arguments are command-line values.
    """
    if not asked and address is None:
        if num_gpus is not None or num_actors is not None:
            raise ScoringError("--num-gpus and --num-actors need Ray; add --ray, or leave them out")
        return None
    from nnd.metric.run import Ray, evaluate_on_ray

    if out is None:
        raise ScoringError("--ray needs --out, a folder that all machines share")
    if worker is not None:
        raise ScoringError("--ray shares the pairs among actors of its own; leave out --worker")
    config = Ray(address, num_gpus, num_actors)
    return partial(evaluate_on_ray, ray=config)  # type: ignore[return-value] # of a list: a Sweep


def tell_of_workers() -> None:
    """Say that this is one of several processes, if a scheduler started several."""
    from nnd.metric.run import ignored_workers

    line = ignored_workers()
    if line is not None:
        print(f"nnd: {line}", file=sys.stderr)


def merge(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder that the workers wrote to with --out.")
    ],
    *,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Merge the parts of all workers into one run.

    It checks that all parts exist, are undamaged and were made with the same options, and names
    those that are not: workers that are started again score only these.

    Example: nnd merge run
    """
    from nnd.metric.run import merge as merge_

    found = merge_(run)
    show_result(found, as_json, details=details, after=[f"written to {run}"])
