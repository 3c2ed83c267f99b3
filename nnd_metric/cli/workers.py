"""Workers that share a run, and the command that merges what they wrote. Imports are inside."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnd.metric.cli.printing import AsJson, Details, show_result
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric.parts import WorkerReport


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
