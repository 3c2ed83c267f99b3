"""The job of a shared run: models and datasets, with a plan for each run."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from nnd.metric.data import (
    PairData,
    PairSet,
    PairStream,
    check_choices,
    choose_part,
    contexts_of,
    is_several,
    load_pairs,
    name_datasets,
    no_pairs,
    only_of_one,
    open_pairs,
    read_human_scores,
    run_folders,
)
from nnd.metric.likelihood import (
    LoadedModel,
    Loading,
    Model,
    Scoring,
    list_models,
    load_config,
    name_models,
    scoring_of_each,
)
from nnd.metric.run.parts.run_plan import Plan, describe, find_plan
from nnd.metric.text import AUTO, family_template


class PlannedRun(NamedTuple):
    """A dataset, cut into parts.

    Attributes:
        plan: The parts.
        stream: The data.
        data: The data as given by the user.
    """

    plan: Plan
    stream: PairStream
    data: PairData | PairSet


class Job(NamedTuple):
    """Models to be scored on planned datasets.

    Attributes:
        models: Name of a model → the model as given by the user.
        scorings: Name of a model → its scoring options.
        runs: Name of a dataset → its run.
    """

    models: Mapping[str, Model]
    scorings: Mapping[str, Scoring]
    runs: Mapping[str, PlannedRun]


def plan_job(
    models: Model | Sequence[Model],
    data: Any,  # noqa: ANN401 - as of `evaluate`
    *,
    out: str | Path,
    human_scores: PairData | None,
    systems: Mapping[str, str] | None,
    templates: Mapping[str, str] | None,
    scoring: Scoring,
    loading: Loading,
    **chosen: Any,  # noqa: ANN401 - options of `choose_part`
) -> Job:
    """Check the arguments, which are those of `evaluate`, and find or write the plan of every run.

    Raises:
        ScoringError: If data, a model or an option cannot be used, or the folder has the plan of
            another run.
    """
    asked, datasets = list_models(models), list(data) if is_several(data) else [data]
    names, keys = name_models(asked, loading), name_datasets(datasets)
    folders = run_folders(out, keys, parts=True)
    scorings = scoring_of_each(names, scoring, templates or {})
    if human_scores is not None and len(keys) > 1:
        raise only_of_one("human_scores")
    streams = [_with_scores(open_part(dataset, **chosen), human_scores) for dataset in datasets]
    judged = [stream.about.human_scores for stream in streams]
    check_choices(systems or {}, names, [scores for scores in judged if scores is not None])
    for model in asked:
        if not isinstance(model, LoadedModel):
            load_config(model, loading)
    options = {
        "scoring": _describe_scoring(scoring),
        "loading": {name: value for name, value in asdict(loading).items() if name != "device"},
        "models": names,
        "templates": dict(templates or {}),
        "systems": dict(systems or {}),
    }
    runs = {
        key: PlannedRun(_plan(folders[key], stream, scorings, options), stream, dataset)
        for key, stream, dataset in zip(keys, streams, datasets, strict=True)
    }
    return Job(dict(zip(names, asked, strict=True)), scorings, runs)


def open_part(
    data: PairData | PairSet,
    **chosen: Any,  # noqa: ANN401 - options of `choose_part`
) -> PairStream:
    """Open data, or the chosen part of it.

    Raises:
        ScoringError: If the data cannot be read, or has no pairs.
    """
    if chosen["categories"] or chosen["limit"] is not None or chosen["held_out"] is not None:
        data = choose_part(data if isinstance(data, PairSet) else load_pairs(data), **chosen)
    stream = open_pairs(data, chosen["splits"])
    if not stream.sizes()[""]:
        raise no_pairs(stream.about.name)
    return stream


def _with_scores(stream: PairStream, human_scores: PairData | None) -> PairStream:
    if human_scores is None:
        return stream
    return replace(
        stream, about=replace(stream.about, human_scores=read_human_scores(human_scores))
    )


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
    for name in ("token_budget", "cache"):
        del facts[name]
    return facts | {"chat": scoring.chat.stored().to_dict()}
