"""Alternatives of `nnd evaluate` to scoring once: other choices, lists of runs, estimates."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnd.metric.app.any_data import find_data
from nnd.metric.cli import HOW, quiet_loading, resumable
from nnd.schemas import NNDError, ScoringError, write_whole

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
    """Score one model on one dataset under other choices too.

    Args:
        models: Command-line value.
        data: The datasets.
        dimensions: Command-line value.
        alone: Whether all options are ones that --vary supports.
        **chosen: Further options of `vary`.
    """
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
    """Return what an evaluation would cost.

    Args:
        models: Command-line value.
        data: The datasets.
        alone: Whether all options are ones that --dry-run supports.
        **chosen: Options of `estimate`.
    """
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
    """Score a list of runs; refuse options that belong in the list.

    Args:
        context: The context of the command.
        runs: Command-line value.
        out: Command-line value.
        limit: Command-line value.
        scoring: Same as in `evaluate_runs`.
        loading: Same as in `evaluate_runs`.
    """
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


def evaluate_runs(
    runs: str | Path,
    *,
    out: str | Path,
    limit: int | None = None,
    scoring: "Scoring | None" = None,
    loading: "Loading | None" = None,
) -> "Sweep":
    """Score a list of runs: a sweep that can be kept, resumed and cited.

    Results are written to `OUT/MANNER/DATASET`. MANNER is the protocol, followed by the template
    and other options if they are not the default: `native/quiz_design`,
    `laban2022+mixqg/quiz_design`. Each folder has the form that `evaluate` writes, and a second
    call resumes the first. A copy of the file is stored next to them, under its name and the first
    digits of its SHA-256.

    Args:
        runs: A YAML file: a list of entries with `model`, `data` and, as far as needed, `revision`,
            `adapter`, `quantise`, `dtype`, `protocol`, `template`, `chat_template`,
            `system_prompt`, `keep` and `system` (`runs.schema.json`). Relative paths are relative
            to the file.
        out: Folder of all results.
        limit: Same as in `evaluate`.
        scoring: Scoring options that an entry does not set; None means the defaults.
        loading: Loading options that an entry does not set; None means the defaults.

    Returns:
        The results: `MANNER/DATASET` → evaluation.

    Raises:
        ScoringError: If the file cannot be read, an entry is wrong (the message says in which
            line), or a model cannot be found; nothing is scored then.
        NNDError: If `out` is a file, or a folder of results holds anything that nnd did not write.
        OSError: If `out` cannot be written.
    """
    from nnd.converters.reading import find_line, load_yaml
    from nnd.metric.likelihood import Loading, Scoring
    from nnd.metric.run import check_entries, read_entries, score_entries

    path, place = Path(runs), Path(out)
    if place.exists() and not place.is_dir():
        raise NNDError(f"{place}: is a file; name a folder with --out")
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
        document = load_yaml(text)
    except Exception as error:  # PyYAML also raises ValueError, KeyError and others
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise ScoringError(f"{path}: cannot be read as YAML: {reason}") from error
    entries, find = [], cache(find_data)  # which prints its note on each name once
    for entry in read_entries(
        document,
        path.parent,
        lambda keys: f"{path}:{find_line(text, keys)}",
        scoring=scoring or Scoring(),
        loading=loading or Loading(),
    ):
        with entry.named():
            entries.append(replace(entry, data=tuple(map(find, entry.data))))
    check_entries(entries)
    write_whole(place / f"{path.stem}-{hashlib.sha256(content).hexdigest()[:12]}.yaml", content)
    return score_entries(entries, place, limit=limit)
