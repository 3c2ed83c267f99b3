"""What `nnd evaluate` does instead of scoring once: other choices, a share, or nothing at all.

The command that merges shares is here, too.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnd.metric.cli.datasets import find_data
from nnd.metric.cli.printing import AsJson, Details, show_result
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric.cost import Estimate
    from nnd.metric.parts import WorkerReport
    from nnd.metric.variation import Variation


def vary_choices(
    models: Sequence[str],
    data: Sequence[str],
    dimensions: str,
    *,
    alone: bool,
    **chosen: Any,  # noqa: ANN401 - options of `vary`, each of its own type
) -> "Variation":
    """Score one model on one dataset under other choices too.

    Args:
        models: As typed.
        data: As typed.
        dimensions: As typed.
        alone: Whether no option was given that only a plain evaluation takes.
        **chosen: Options of both.
    """
    from nnd.metric.variation import vary

    if not alone or len(models) > 1 or len(data) > 1:
        raise ScoringError(
            "--vary takes one --model and one --data; leave out the others, --human-scores, "
            "--system, --worker and --push-to-model-card"
        )
    return vary(models[0], find_data(data[0]), dimensions.split(","), **chosen)


def estimate_cost(
    models: Sequence[str],
    data: Sequence[str],
    dimensions: str | None,
    **chosen: Any,  # noqa: ANN401 - as above
) -> "Estimate":
    """Return what an evaluation would cost.

    Args:
        models: As typed.
        data: As typed.
        dimensions: As typed.
        **chosen: Options of `estimate`.
    """
    from nnd.metric import estimate

    if dimensions is not None:
        raise ScoringError("--dry-run knows the cost of one evaluation; leave out --vary")
    return estimate(models, [find_data(name) for name in data], **chosen)


def score_share(
    models: Sequence[str],
    data: Sequence[str | Path],
    worker: str,
    *,
    alone: bool,
    out: Path | None,
    **chosen: Any,  # noqa: ANN401 - options of `evaluate_parts`, each of its own type
) -> "WorkerReport":
    """Score the share of a worker.

    Args:
        models: As typed.
        data: The datasets.
        worker: As typed: I/N, or auto.
        alone: Whether no option was given that only a whole run takes.
        out: Folder of the run.
        **chosen: Other options.
    """
    from nnd.metric.parts import evaluate_parts, read_worker

    if out is None:
        raise ScoringError("--worker needs --out: the folder to which all workers write")
    if not alone:
        raise ScoringError(
            "--worker scores a share of the pairs; leave out --details and --push-to-model-card"
        )
    asked = data[0] if len(data) == 1 else list(data)
    return evaluate_parts(models, asked, out=out, worker=read_worker(worker), **chosen)


def tell_of_workers() -> None:
    """Say that this is one of several processes, if a scheduler started it so."""
    from nnd.metric.parts import ignored_workers

    line = ignored_workers()
    if line is not None:
        print(f"nnd: {line}", file=sys.stderr)


def merge(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The --out of all workers.")],
    *,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Merge what workers scored into one run.

    It checks that all parts are there, undamaged and made alike, and names those that are not:
    workers that are started again score only these.

    Example: nnd merge run
    """
    from nnd.metric.parts import merge as merge_

    found = merge_(run)
    read = found.readings(as_chats=True)
    show_result(found, as_json, details=details, before=read, after=[f"written to {run}"])
