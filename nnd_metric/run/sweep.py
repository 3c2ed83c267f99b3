"""The main job: models and pairs in, pass rates and agreement with human scores out.

Each model is loaded once, whatever the number of datasets; on several GPUs, several models are
scored at the same time. To resume a run, run it again: likelihoods that were computed before are in
the store, so finished work costs little more than loading the model, and a finished result not even
that. The output always describes the present models and data.
"""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, Unpack, overload

from nnd.metric.data import (
    check_choices,
    is_several,
    locked_run,
    run_folders,
)
from nnd.metric.likelihood import Model
from nnd.metric.run.arriving_results import write_arriving
from nnd.metric.run.evaluation import Evaluation, Sweep
from nnd.metric.run.existing_run import KeptRun, read_kept
from nnd.metric.run.launchers.ray_cluster import Ray, check_ray
from nnd.metric.run.launchers.worker_report import WorkerReport
from nnd.metric.run.launchers.worker_share import Worker, check_shared, find_share
from nnd.metric.run.model_result import ScoredModel
from nnd.metric.run.run_request import Dataset, RunOptions, RunRequest, with_run_options
from nnd.metric.run.scoring_task import ScoredShard, ScoringTask, whole_task
from nnd.metric.run.stored_results import StoredResults, stored_results
from nnd.metric.run.summary import summarise_scored
from nnd.metric.run.survival import Trouble

_Each = TypeVar("_Each", bound=Dataset)


@overload
def evaluate(
    models: Model | Sequence[Model],
    data: list[_Each] | tuple[_Each, ...],
    *,
    out: str | Path | None = None,
    ray: Ray | None = None,
    **options: Unpack[RunOptions],
) -> Sweep: ...
@overload
def evaluate(
    models: Model | Sequence[Model],
    data: Dataset,
    *,
    out: str | Path | None = None,
    ray: Ray | None = None,
    **options: Unpack[RunOptions],
) -> Evaluation: ...
@overload
def evaluate(
    models: Model | Sequence[Model],
    data: Dataset | Sequence[Dataset],
    *,
    out: str | Path,
    worker: Worker,
    **options: Unpack[RunOptions],
) -> WorkerReport: ...
@with_run_options
def evaluate(
    models: Model | Sequence[Model],
    data: Dataset | Sequence[Dataset],
    *,
    out: str | Path | None = None,
    worker: Worker | None = None,
    ray: Ray | None = None,
    **options: Unpack[RunOptions],
) -> Evaluation | Sweep | WorkerReport:
    """Score pairs with models: pass rates and agreement.

    To resume a run, start it again: finished likelihoods are not computed again. A new model is
    added to the run in the output folder, which must have the same pairs, protocol and template
    (one chosen for a model stays with it); the others remain. Results are written as they arrive,
    also by several processes into one folder. If one of several models or datasets
    fails, the others are still scored; the failure is reported, and the command exits with 1.
    With several GPUs, models given by name are scored side by side, unless a device is named.

    In Python, every failure on a dataset that is not in a list raises an error, and so does that of
    a single model on a list of one; further failures are warnings, listed in the result.

    Args:
        models: Hub id, NAME or NAME@REVISION, or folder of a model or an adapter, or a GGUF file.
            In Python, also loaded models (`wrap_model`). In Python, the results name a model NAME,
            unless several of its revisions are scored.
        data: What to score. In Python, pairs (see `load_pairs`), or a list of several datasets; a
            list of dicts holds the rows of one dataset.
        out: Folder for result.json and log_likelihoods.parquet; with several datasets, it gets a
            subfolder for each.
        worker: Score the share of worker I of N; all write to the same folder. auto takes I and N
            from torchrun, which also says on which GPU, or from a Slurm array. `nnd merge` makes a
            run of all shares.
        ray: Score the shares by workers that Ray starts, and merge them. Models and data are names
            or paths that every machine of the cluster can read.
        **options: The other fields of `RunRequest`.

    Returns:
        For one dataset, one result per model (including those of the run in `out`), all per-pair
        log-likelihoods, and, for two or more models matched to systems, the agreement. For a list,
        the same for each dataset. For a worker, the counts of scored and of remaining parts.

    Raises:
        ScoringError: If data, a model or an option cannot be used, or `out` holds another run; the
            message says which and why.
        NNDError: If `out` is a file, holds anything that nnd did not write, or cannot be written.
        OSError: If a worker cannot write a part.

    Examples:
        nnd evaluate --model gpt2 --data quiz_design --limit 200
        nnd evaluate --model gpt2 --adapter ./my-lora --data quiz_design
        nnd evaluate --model gpt2 --model gpt2-large --data quiz_design-nnd --out run
        nnd evaluate --model gpt2 --data quiz_design --data summeval --dry-run
        nnd evaluate --model gpt2 --data quiz_design --vary protocol,dtype,normalise
        nnd evaluate --checkpoints trained --data quiz_design-nnd --out scored
        nnd evaluate --model gpt2 --data quiz_design-nnd --out run --worker 1/8
        nnd evaluate --judged fib --out fib-judged
        nnd evaluate --runs runs.yaml --out sweep
        nnd evaluate --runs laban2022 --dry-run
    """
    check_shared(worker, ray, out)
    request = RunRequest(models, data, **options)
    if out is not None and worker is not None:
        from nnd.metric.run.launchers.workers import score_share  # noqa: PLC0415 - imports torch
        from nnd.metric.run.parts.job import plan_job  # noqa: PLC0415

        share = find_share(worker)
        return score_share(plan_job(request, out), request.loading, share)
    if out is not None and ray is not None:
        check_ray(ray)
        from nnd.metric.run.launchers.ray_workers import evaluate_on_ray  # noqa: PLC0415

        found = evaluate_on_ray(request, out, ray)
    else:
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
            here += [each.result.model for each in kept(key, names).models]
    people = [each.human_scores for each in pairs.values() if each.human_scores is not None]
    check_choices(systems, here, people)
    stored = stored_results(request.named_models(), pairs, scorings, request.loading)
    ready = stored.find()
    done = {(each.scored.result.model, each.dataset) for each in ready}
    complete = {name for name in names if pairs and all((name, key) in done for key in pairs)}
    usable = request.find_models(trouble, complete)

    def join(key: str, scored: Sequence[ScoredModel]) -> Evaluation:
        before = kept(key, [each.result.model for each in scored])
        in_order = sorted(scored, key=lambda each: names.index(each.result.model))
        return summarise_scored(
            pairs[key],
            [
                *before.models,
                *(_with_published(before.with_cost(each), request) for each in in_order),
            ],
            systems={**before.systems, **systems},
            templates={**before.templates, **(request.templates or {})},
            asks_agreement=request.human_scores is not None,
        )

    task = whole_task(usable, pairs, scorings, request.loading, trouble, done=done)
    with closing(_scored_shards(ready, task, stored)) as shards:
        found = write_arriving(shards, join, folders)
    evaluations = {key: found[key] for key in pairs if key in found}
    written = {key: folder for key, folder in folders.items() if key in evaluations}
    return Sweep(evaluations, pairs, tuple(trouble.failures), written)


def _scored_shards(
    ready: Sequence[ScoredShard], task: ScoringTask, stored: StoredResults
) -> Generator[ScoredShard]:
    """Yield the shards that are ready, then those of a task, which are stored for later runs."""
    yield from ready
    if not task.total:
        return
    from nnd.metric.run.launchers.side_by_side import score_models  # noqa: PLC0415 - imports torch

    with closing(score_models(task)) as shards:
        for shard in shards:
            stored.keep(shard)
            yield shard


def _with_published(scored: ScoredModel, request: RunRequest) -> ScoredModel:
    published = request.published.get(scored.result.model)
    return scored._replace(result=replace(scored.result, published=published))
