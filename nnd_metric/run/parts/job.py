"""The job of a shared run: models and datasets, with a plan for each run."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from nnd.metric.data import (
    PairStream,
    check_choices,
    contexts_of,
    no_pairs,
    open_pairs,
    run_folders,
)
from nnd.metric.likelihood import Model, Scoring
from nnd.metric.run.parts.run_plan import Plan, describe, find_plan
from nnd.metric.run.run_request import Dataset, RunRequest
from nnd.metric.run.survival import Trouble
from nnd.metric.text import AUTO, family_template
from nnd.schemas import ScoringError


class PlannedRun(NamedTuple):
    """A dataset, cut into parts."""

    plan: Plan
    stream: PairStream


class Job(NamedTuple):
    """Models to be scored on planned datasets."""

    models: Mapping[str, Model]
    scorings: Mapping[str, Scoring]
    runs: Mapping[str, PlannedRun]

    @property
    def parts(self) -> int:
        """The number of parts of all runs, over all models."""
        return sum(run.plan.parts for run in self.runs.values()) * len(self.models)

    def left(self) -> dict[Path, int]:
        """Return the folder of each run → the number of its missing parts, over all models."""
        return {
            run.plan.run: sum(len(run.plan.missing(name)) for name in self.models)
            for run in self.runs.values()
        }


def plan_job(request: RunRequest, out: str | Path) -> Job:
    """Check what is asked, and find or write the plan of every run."""
    datasets, scorings = request.datasets(), request.scorings()
    if request.scoring.keep_tokens:
        raise ScoringError(
            "option.conflict",
            "runs in parts keep no tokens",
            remedy="leave out --keep-tokens, or --worker and --ray",
        )
    folders = run_folders(out, [*datasets], parts=True)
    streams = {key: _open_part(data, request) for key, data in datasets.items()}
    judged = [stream.about.human_scores for stream in streams.values()]
    check_choices(request.systems or {}, [*scorings], [each for each in judged if each is not None])
    models, loading = request.find_models(Trouble(fatal=True)), asdict(request.loading)
    options = {
        "scoring": _describe_scoring(request.scoring),
        "loading": {name: value for name, value in loading.items() if name != "device"},
        "models": [*models],
        "templates": dict(request.templates or {}),
        "systems": dict(request.systems or {}),
    }
    runs = {
        key: PlannedRun(_plan(folders[key], stream, scorings, options), stream)
        for key, stream in streams.items()
    }
    return Job(models, scorings, runs)


def _open_part(data: Dataset, request: RunRequest) -> PairStream:
    """Open data, or the part of it that is asked for."""
    named = (request.categories, request.columns, request.cluster, request.held_out)
    if any(named) or request.limit is not None:
        data = request.part_of(request.load(data))
    stream = open_pairs(data, request.splits)
    if not stream.sizes()[""]:
        raise no_pairs(stream.about.name)
    return replace(stream, about=request.with_own_scores(stream.about))


def _plan(
    run: Path, stream: PairStream, scorings: Mapping[str, Scoring], options: Mapping[str, Any]
) -> Plan:
    templates = {
        name: _of_family(name, stream) if scoring.template == AUTO else scoring.template
        for name, scoring in scorings.items()
    }
    return find_plan(run, stream, describe(stream, **options), templates)


def _of_family(model: str, stream: PairStream) -> str | None:
    """Return the template of a model's family, which depends on all contexts, or None."""
    contexts = (each for pairs, _ in stream.pieces("") for each in contexts_of(pairs))
    found = family_template(model, contexts)
    return None if found is None else found.name


def _describe_scoring(scoring: Scoring) -> dict[str, Any]:
    """Return the options that affect numbers by more than rounding."""
    facts = asdict(replace(scoring, chat=None))  # type: ignore[arg-type] # added below
    for name in ("token_budget", "cache", "keep_tokens"):
        del facts[name]
    for name in ("language", "context_language"):  # runs of older versions lack them
        if facts[name] is None:
            del facts[name]
    return facts | {"chat": scoring.chat.stored().to_dict()}
