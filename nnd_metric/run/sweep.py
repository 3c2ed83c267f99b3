"""The main job: models and pairs in, pass rates and agreement with human scores out.

Each model is loaded once, whatever the number of datasets; on several GPUs, several models are
scored at the same time. To resume a run, run it again: likelihoods that were computed before are in
the store, so finished work costs little more than loading the model. The output always describes
the present models and data.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, Unpack, overload

import polars as pl

from nnd.metric.data import (
    STORED,
    STORED_SETS,
    PairData,
    check_choices,
    is_several,
    locked_run,
    run_folders,
)
from nnd.metric.likelihood import Loading, Model, Scoring
from nnd.metric.run.arriving_results import Outputs
from nnd.metric.run.evaluation import Evaluation, Sweep, join_results
from nnd.metric.run.existing_run import KeptRun, read_kept
from nnd.metric.run.model_result import ScoredModel
from nnd.metric.run.placement.in_turn import ScoringTask
from nnd.metric.run.placement.placing import score_models
from nnd.metric.run.run_request import Dataset, RunOptions, RunRequest
from nnd.metric.run.survival import Trouble

_Each = TypeVar("_Each", bound=Dataset)


@overload
def evaluate(
    models: Model | Sequence[Model],
    data: list[_Each] | tuple[_Each, ...],
    *,
    out: str | Path | None = None,
    **options: Unpack[RunOptions],
) -> Sweep: ...
@overload
def evaluate(
    models: Model | Sequence[Model],
    data: Dataset,
    *,
    out: str | Path | None = None,
    **options: Unpack[RunOptions],
) -> Evaluation: ...
def evaluate(
    models: Model | Sequence[Model],
    data: Any,
    *,
    out: str | Path | None = None,
    human_scores: PairData | None = None,
    systems: Mapping[str, str] | None = None,
    templates: Mapping[str, str] | None = None,
    splits: Sequence[str] = (),
    limit: int | None = None,
    categories: Sequence[str] = (),
    held_out: float | None = None,
    split_seed: int = 0,
    scoring: Scoring = Scoring(),
    loading: Loading = Loading(),
) -> Evaluation | Sweep:
    """Score pairs with models; return pass rates and their agreement with human scores.

    On a machine with several GPUs, models given by name are scored side by side, each in a process
    of its own, unless `loading` names a device.

    With one dataset, every failure raises an error. With a list of datasets, a model that cannot be
    loaded, a dataset that cannot be read, and a dataset that a model cannot score are left out with
    a warning; an error is raised only if a single model fails on a single dataset.

    Args:
        models: Hub ids, folders, or loaded models (`wrap_model`); one or several. A Hub id
            may include a revision, `NAME@REVISION`; the results name the model NAME, unless several
            of its revisions are scored.
        data: Pairs (see `data.load_pairs`), or a list of several datasets. A list of dicts holds
            the rows of one dataset.
        out: Folder for result.json and log_likelihoods.parquet; for several datasets, a folder with
            a subfolder for each. An earlier run of other models in this folder is kept if it has
            the same pairs, protocol and template (a template chosen for one model stays with it).
            Results are written as they arrive, in at most a tenth of the time, and also when the
            run is interrupted or fails. Several processes may write models into one folder.
        human_scores: Human scores per system, for one dataset; None means those that come with the
            data.
        systems: Model → system it stands for, if the model's id does not name it; with several
            datasets, it applies to those that have such a system.
        templates: Model → template, for models whose template is not that of `scoring`.
        splits: Score only the pairs of these splits of each dataset. By default those of `test`, if
            the others are called train, validation, dev or the like, else all; with `held_out` all.
        limit: Score at most this many tests of each dataset, for a first look: up to three of each
            context in turn, the same in every run; a larger limit contains a smaller one.
        categories: Score only the pairs of these error categories.
        held_out: Score only the contexts that `train` and `export` hold out when the split has this
            share of contexts for training.
        split_seed: Same as in `train` and `export`.
        scoring: How pairs are scored.
        loading: How models are loaded.

    Returns:
        For one dataset, one result per model (including those of the run in `out`), all per-pair
        log-likelihoods, and, for two or more models matched to systems, the agreement. For a list,
        the same for each dataset.

    Raises:
        ScoringError: If data, a model or an option cannot be used, or `out` holds another run; the
            message says which and why.
        NNDError: If `out` is a file, holds anything that nnd did not write, or cannot be written.
    """
    request = RunRequest(
        models,
        data,
        human_scores=human_scores,
        systems=systems,
        templates=templates,
        splits=splits,
        limit=limit,
        categories=categories,
        held_out=held_out,
        split_seed=split_seed,
        scoring=scoring,
        loading=loading,
    )
    found = sweep(request, out)
    return found if is_several(data) else next(iter(found.evaluations.values()))


def sweep(request: RunRequest, out: str | Path | None) -> Sweep:
    """Score every model on every dataset (see `evaluate`)."""
    scorings, keys = request.scorings(), [*request.datasets()]
    names, systems = [*scorings], request.systems or {}
    folders = run_folders(out, keys, parts=False)
    trouble = Trouble(fatal=not is_several(request.data) or len(names) == len(keys) == 1)
    pairs = request.read_pairs(trouble)

    def kept(key: str, done: Sequence[str]) -> KeptRun:
        return read_kept(folders.get(key), pairs[key], request.scoring, scorings, done)

    # The run in a folder is read before scoring, to find mistakes early, and again afterwards:
    # another process may have added a model to it in the meantime.
    here = list(names)
    for key in pairs:
        with locked_run(folders.get(key)):
            here += [each.model for each in kept(key, names).results]
    people = [each.human_scores for each in pairs.values() if each.human_scores is not None]
    check_choices(systems, here, people)
    usable = request.find_models(trouble)

    def join(key: str, scored: Sequence[ScoredModel]) -> Evaluation:
        before = kept(key, [each.result.model for each in scored])
        scored = sorted(scored, key=lambda each: names.index(each.result.model))
        children = [each.children.select(*STORED_SETS) for each in scored]
        joined = join_results(
            (*before.results, *(each.result for each in scored)),
            pl.concat([before.scored, *(each.pairs.select(*STORED) for each in scored)]),
            pl.concat([before.children, *children]),
            pairs[key],
            systems={**before.systems, **systems},
            templates={**before.templates, **(request.templates or {})},
        )
        is_asked = joined.asks_agreement or request.human_scores is not None
        return replace(joined, asks_agreement=is_asked)

    outputs = Outputs(join, folders)
    scores = score_models(ScoringTask(usable, pairs, scorings, request.loading, trouble))
    with outputs, closing(scores):
        for key, scored in scores:
            outputs.add(key, scored)
    evaluations = {key: outputs.evaluations[key] for key in pairs if key in outputs.evaluations}
    written = {key: folder for key, folder in folders.items() if key in evaluations}
    return Sweep(evaluations, pairs, tuple(trouble.failures), written)
