"""Alternatives of `nnd evaluate` to scoring once: other choices, lists of runs, estimates."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnd.metric.cli.printing import quiet_loading, resumable
from nnd.metric.cli.shared_options import HOW
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric.likelihood import Loading, Scoring
    from nnd.metric.run import Estimate, Sweep, Variation

Vary = Annotated[
    str | None,
    typer.Option(
        metavar="DIMENSION,…",
        help="Score one model under other choices too, one dimension at a time, and count the "
        "verdicts that flip: protocol, template, chat-template, dtype, separator, normalise "
        "(how texts are written).",
        rich_help_panel=HOW,
    ),
]


def vary_choices(
    models: Sequence[str],
    data: Sequence[str],
    dimensions: str,
    *,
    alone: bool,
    **chosen: Any,  # noqa: ANN401 - options of `vary`, each of its own type
) -> "Variation":
    """Score one model on one dataset under other choices; `alone` without other ways to score."""
    from nnd.metric.run import vary

    if not alone or len(models) > 1 or len(data) > 1:
        raise ScoringError(
            "--vary works with one --model and one --data; leave out further ones, "
            "--human-scores, --system, --worker, --ray and --push-to-model-card"
        )
    return vary(models[0], data[0], dimensions.split(","), **chosen)


def estimate_cost(
    models: Sequence[str],
    data: Sequence[str],
    *,
    alone: bool,
    **chosen: Any,  # noqa: ANN401 - as above
) -> "Estimate":
    """Return what an evaluation would cost; `alone` without other ways to score."""
    from nnd.metric.run import estimate

    if not alone:
        raise ScoringError("--dry-run estimates a whole run; leave out --vary and --worker")
    return estimate(models, list(data), **chosen)


_WITH_RUNS = {
    "runs",
    "out",
    "limit",
    "no_unconditional",
    "token_budget",
    "matmul",
    "no_cache",
    "device",
    "device_map",
    "trust_remote_code",
    "details",
    "as_json",
}
"""Options that go with a list of runs: where to run it, and what to show."""


def score_runs(
    context: typer.Context,
    runs: Path,
    out: Path | None,
    *,
    limit: int | None,
    scoring: "Scoring",
    loading: "Loading",
) -> "Sweep":
    """Score a list of runs; refuse options that belong in the list."""
    from nnd.metric.app import evaluate_runs

    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE" and parameter.name not in _WITH_RUNS:
            raise ScoringError(
                f"{parameter.opts[0]} cannot be combined with --runs; put it into the file of "
                "runs, or leave it out"
            )
    if out is None:
        raise typer.BadParameter("name a folder for the results", param_hint="--out")
    quiet_loading()
    with resumable(cached=scoring.cache):
        return evaluate_runs(runs, out=out, limit=limit, scoring=scoring, loading=loading)
