"""What one worker of a run does: its share of the parts, as far as they are not there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tqdm import tqdm

from nnd.metric.data import (
    PairData,
    PairSet,
    PairStream,
    check_choices,
    choose_part,
    is_several,
    load_pairs,
    name_datasets,
    no_pairs,
    only_of_one,
    open_pairs,
    parts_of,
    read_human_scores,
)
from nnd.metric.encoding import choose_template
from nnd.metric.engine import Scoring, scoring_of_each
from nnd.metric.models import (
    LoadedModel,
    Loading,
    Model,
    list_models,
    load_config,
    load_model,
    name_models,
)
from nnd.metric.parts.part_file import is_finished
from nnd.metric.parts.part_scorer import PartScorer
from nnd.metric.parts.plan import Plan, describe, find_plan
from nnd.metric.parts.report import WorkerReport
from nnd.metric.parts.share import Share, Worker, find_share
from nnd.metric.results import run_folders
from nnd.schemas import ScoringError


class _Planned(NamedTuple):
    plan: Plan
    stream: PairStream


def evaluate_parts(
    models: Model | Sequence[Model],
    data: Any,  # noqa: ANN401 - as of `evaluate`
    *,
    out: str | Path,
    worker: Worker = "auto",
    human_scores: PairData | None = None,
    systems: Mapping[str, str] | None = None,
    templates: Mapping[str, str] | None = None,
    limit: int | None = None,
    categories: Sequence[str] = (),
    held_out: float | None = None,
    split_seed: int = 0,
    scoring: Scoring = Scoring(),
    loading: Loading = Loading(),
) -> WorkerReport:
    """Score one worker's share of a run, which `merge` puts together when all shares are there.

    Every worker is called with the same arguments but for its number. None waits for another; one
    that is started again scores what is missing of its share, and the number of workers may be
    another one then. Two workers of one number score the same parts, which does no harm.

    Args:
        models: As of `evaluate`.
        data: As of `evaluate`. Folders and Parquet files are read a row group at a time, unless
            only some of their pairs are scored.
        out: Folder of the run, the same for all workers; of several datasets, for a folder of each.
        worker: The number of this worker, from 1, and how many there are; "auto" takes both from
            torchrun, which also says on which GPU, or from a Slurm array.
        human_scores: As of `evaluate`.
        systems: As of `evaluate`.
        templates: As of `evaluate`.
        limit: As of `evaluate`.
        categories: As of `evaluate`.
        held_out: As of `evaluate`.
        split_seed: As of `evaluate`.
        scoring: As of `evaluate`; the store of likelihoods is not used.
        loading: As of `evaluate`.

    Returns:
        How many parts were scored, and how many are left.

    Raises:
        ScoringError: If data, a model or an option cannot be used, the workers before were asked
            for another run, or loaded another model; the message says which and why.
        OSError: If a part cannot be written.
    """
    share = find_share(worker)
    asked, datasets = list_models(models), list(data) if is_several(data) else [data]
    names, keys = name_models(asked, loading), name_datasets(datasets)
    folders = run_folders(out, keys, parts=True)
    scorings = scoring_of_each(names, scoring, templates or {})
    if human_scores is not None and len(keys) > 1:
        raise only_of_one("human_scores")
    chosen = {"limit": limit, "categories": categories, "held_out": held_out}
    streams = [_open(each, human_scores, split_seed=split_seed, **chosen) for each in datasets]
    judged = [each.about.human_scores for each in streams if each.about.human_scores is not None]
    check_choices(systems or {}, names, judged)
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
    planned = [
        _Planned(_plan(folder, stream, scorings, options), stream)
        for folder, stream in zip(folders.values(), streams, strict=True)
    ]
    done = 0
    for name, model in zip(names, asked, strict=True):
        todo = [each for each in planned if next(_todo(each.plan, name, share), None) is not None]
        if todo:
            done += _score(_load(model, name, loading, share), scorings[name], todo, share)
    left = {each.plan.run: sum(len(each.plan.missing(n)) for n in names) for each in planned}
    parts = sum(each.plan.parts for each in planned) * len(names)
    return WorkerReport(share.number, share.of, done, left, parts)


def _open(
    data: PairData | PairSet,
    human_scores: PairData | None,
    **chosen: Any,  # noqa: ANN401 - options of `choose_part`
) -> PairStream:
    if chosen["categories"] or chosen["limit"] is not None or chosen["held_out"] is not None:
        data = choose_part(data if isinstance(data, PairSet) else load_pairs(data), **chosen)
    stream = open_pairs(data)
    if not stream.sizes()[""]:
        raise no_pairs(stream.about.name)
    if human_scores is None:
        return stream
    return replace(
        stream, about=replace(stream.about, human_scores=read_human_scores(human_scores))
    )


def _plan(
    run: Path, stream: PairStream, scorings: Mapping[str, Scoring], options: Mapping[str, Any]
) -> Plan:
    templates = {
        name: choose_template(each.template, name, _inputs(stream)).name
        for name, each in scorings.items()
    }
    return find_plan(run, stream, describe(stream, **options), templates)


def _inputs(stream: PairStream) -> Iterator[dict[str, str] | None]:
    """Yield the parts of every context; they are read only where a template depends on them."""
    for pairs, _ in stream.pieces(""):
        yield from parts_of(pairs)


def _describe_scoring(scoring: Scoring) -> dict[str, Any]:
    """Return what decides numbers, beyond rounding."""
    facts = asdict(replace(scoring, chat=None))  # type: ignore[arg-type] # it is put in below
    for name in ("token_budget", "cache"):
        del facts[name]
    return facts | {"chat": scoring.chat.to_dict()}


def _todo(plan: Plan, model: str, share: Share) -> Iterator[int]:
    """Yield the parts of a share that are not finished when their turn comes."""
    for part in range(plan.parts):
        if share.has(part) and not is_finished(plan, model, part):
            yield part


def _score(loaded: LoadedModel, scoring: Scoring, planned: list[_Planned], share: Share) -> int:
    version, done = loaded.version(), 0
    for plan, stream in planned:
        scorer = PartScorer(plan, stream, loaded, scoring, version)
        with tqdm(unit="part", desc=loaded.name, disable=None, leave=False) as bar:
            for part in _todo(plan, loaded.name, share):
                scorer(part)
                done += bar.update() is not False
    return done


def _load(model: Model, name: str, loading: Loading, share: Share) -> LoadedModel:
    if isinstance(model, LoadedModel):
        return model
    placed = replace(loading, device=loading.device or _local_device(share))
    return replace(load_model(model, placed), name=name)


def _local_device(share: Share) -> str | None:
    """Return the GPU of a process that torchrun started; None: the best there is."""
    devices = torch.cuda.device_count()
    if share.local is None or devices <= 1:  # one: each process may see another one
        return None
    if share.local >= devices:
        raise ScoringError(
            f"torchrun started process {share.local + 1} on a machine with {devices} GPUs; give "
            f"--nproc-per-node {devices}"
        )
    return f"cuda:{share.local}"
