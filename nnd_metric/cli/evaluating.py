"""`nnd evaluate`: one command for each way of scoring pairs with models. Imports are local."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nnd.metric.app import find_data
from nnd.metric.cli.options import key_of, name_of, resolved
from nnd.metric.cli.printing import exit_on, quiet_loading, resumable, show_sweep
from nnd.metric.cli.pushing import check_pushable_run, push_run
from nnd.metric.cli.verbs import Typed, function_of
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric.run import Sweep

_REFUSED = {
    "dry_run": (
        ("dimensions", "worker"),
        "--dry-run estimates a whole run; leave out --vary and --worker",
    ),
    "dimensions": (
        ("human_scores", "systems", "worker", "ray", "ray_address", "push_to_model_card"),
        (
            "--vary works with one --model and one --data; leave out further ones, "
            "--human-scores, --system, --worker, --ray and --push-to-model-card"
        ),
    ),
    "ray": (("worker",), "--ray shares the pairs among actors of its own; leave out --worker"),
    "worker": (
        ("push_to_model_card", "details"),
        "--worker scores a share of the pairs; leave out --details and --push-to-model-card",
    ),
}
"""Way to score → options that do not go with it, and what is said then."""

_WITH_RUNS = {
    *("runs", "out", "limit", "details", "as_json"),
    *("scoring_unconditional", "scoring_token_budget", "scoring_matmul", "scoring_cache"),
    *("loading_device", "loading_device_map", "loading_trust_remote_code"),
}
"""Options that go with a list of runs: where to run it, and what to show."""


def evaluate(
    typed: Typed,
    *,
    templates: Sequence[str] = (),
    checkpoints: str | None = None,
    dry_run: bool = False,
    ray: bool = False,
    push_to_model_card: bool = False,
) -> None:
    """Score pairs with models, in one of the ways.

    Args:
        typed: What was typed.
        templates: instruction (what people asked the systems), default (the stored context), mixqg,
            prophetnet, macaw, unifiedqa, t5-ssm-nq, t5-summarize, chat-turns (the turns of a
            dialogue), auto (by the model's name), or your own: "Q: {question}"; MODEL=TEMPLATE for
            one model of several. None means instruction for chats, default for plain text.
        checkpoints: Also score the checkpoints of a training, in order of their steps: those in a
            folder (checkpoint-N), or the revisions of a model on the Hub (step1000).
        dry_run: Estimate the cost (tokens, operations, memory, time) without loading weights or
            writing anything.
        ray: Score in parts, by actors of Ray Data: on the cluster that RAY_ADDRESS names, else on
            this machine. Needs --out, in a folder that all machines share.
        push_to_model_card: Open a pull request on the Hub that adds the pass rates to each model's
            card.
    """
    models, data = typed.values.get("models", []), typed.values.get("data", [])
    out, worker = typed.values.get("out"), typed.values.get("worker")
    if push_to_model_card:
        check_pushable_run(models, typed.values)
    if "runs" in typed.values:
        _score_runs(typed, out)
        return
    if not data:
        raise typer.BadParameter("name a dataset, or use --runs", param_hint="--data")
    models = _find_models(models, checkpoints)
    asked = typed.arguments("evaluate", "data", "human_scores", "templates")

    from nnd.metric.likelihood import name_models, scoring_of_each

    names = name_models(models, asked["loading"])
    for_all, own = read_templates(templates, names)
    scoring = replace(asked["scoring"], template=for_all)
    scoring_of_each(names, scoring, own)
    found = find_all(models, data)
    what: dict[str, Any] = {"models": models, "data": found, "templates": own, "scoring": scoring}

    from nnd.metric.run import ignored_workers, read_worker  # from here on it takes seconds

    quiet_loading()
    if dry_run:
        _check_alone(typed, "dry_run")
        typed.show(typed.call("estimate", **what))
        return
    ray = ray or "ray_address" in typed.values
    _check_place(typed, ray=ray)
    if "dimensions" in typed.values:
        _check_alone(typed, "dimensions", is_alone=len(models) == len(found) == 1)
        varied = {"model": models[0], "data": found[0]}
        scoring = replace(scoring, template=next(iter(own.values()), for_all))
        typed.show(typed.call("vary", **varied, scoring=scoring), written=out)
        return
    if worker is not None:
        _check_alone(typed, "worker")
        what |= {"data": found[0] if len(found) == 1 else found, "worker": read_worker(worker)}
        typed.show(typed.call("evaluate_parts", **what))
        return
    if (line := ignored_workers()) is not None:
        print(f"nnd: {line}", file=sys.stderr)
    name = "evaluate_on_ray" if ray else "evaluate"
    score = function_of(name)  # imported here: until then, there is nothing to resume
    with resumable(cached=ray or scoring.cache):
        results: Sweep = score(**typed.arguments(name, *what), **what)
    show_sweep(results, typed.as_json, details=typed.details, alone=len(data) == 1, out=out)
    if push_to_model_card:
        push_run(results, name_models(models))
    exit_on(results)


def _check_alone(typed: Typed, way: str, *, is_alone: bool = True) -> None:
    """Refuse options that do not go with a way to score."""
    refused, message = _REFUSED[way]
    if not is_alone or not typed.values.keys().isdisjoint(refused):
        raise ScoringError(message)


def _check_place(typed: Typed, *, ray: bool) -> None:
    """Refuse to share a run that has no folder, and options of Ray without Ray."""
    if ray:
        if "out" not in typed.values:
            raise ScoringError("--ray needs --out, a folder that all machines share")
        _check_alone(typed, "ray")
    elif not typed.values.keys().isdisjoint(("ray_num_gpus", "ray_num_actors")):
        raise ScoringError("--num-gpus and --num-actors need Ray; add --ray, or leave them out")
    elif "worker" in typed.values and "out" not in typed.values:
        raise ScoringError("--worker needs --out, the folder to which all workers write")


def _score_runs(typed: Typed, out: Path | None) -> None:
    """Score a list of runs; refuse options that belong in the list."""
    for signature in typed.signatures.values():
        for parameter in signature.parameters:
            if key_of(parameter) in typed.values.keys() - _WITH_RUNS:
                raise ScoringError(
                    f"{name_of(parameter)} cannot be combined with --runs; put it into the file of "
                    "runs, or leave it out"
                )
    if out is None:
        raise typer.BadParameter("name a folder for the results", param_hint="--out")
    quiet_loading()
    with resumable(cached=typed.arguments("evaluate_runs")["scoring"].cache):
        results = typed.call("evaluate_runs")
    show_sweep(results, typed.as_json, details=typed.details)
    exit_on(results)


def _find_models(models: Sequence[str], checkpoints: str | None) -> list[str]:
    """Return the named models, followed by the checkpoints of a training."""
    if checkpoints is not None:
        from nnd.metric.likelihood import list_checkpoints

        return [*models, *list_checkpoints(checkpoints)]
    if not models:
        raise typer.BadParameter("name a model, or use --checkpoints", param_hint="--model")
    return [*models]


def find_all(models: Sequence[str], data: Sequence[str]) -> list[str]:
    """Return the paths or Hub ids of datasets (`find_data`).

    If there is one model and one dataset, both are checked as far as that is possible without torch
    and the Hub. Of several, those that exist are scored.
    """
    from nnd.metric.data import check_place, is_url
    from nnd.metric.likelihood import check_local, split_revision

    alone = len(models) == len(data) == 1
    if alone and not models[0].endswith(".gguf"):
        check_local(split_revision(models[0])[0])
    found = [find_data(name) for name in data]
    if alone and not is_url(found[0]):
        check_place(found[0])
    return found


def read_templates(
    entries: Sequence[str], models: Sequence[str]
) -> tuple[str | None, dict[str, str]]:
    """Return the template for all models, or None, and model → template.

    An entry that begins with the name of a model and = applies to that model; a template may
    contain a = as well.
    """
    templates: dict[str | None, str] = {}
    for entry in entries:
        own = [model for model in models if entry.startswith(f"{model}=")]
        model = max(own, key=len, default=None)
        before, equals, _ = entry.partition("=")
        # Not `did_you_mean`, which also accepts a part of a name: the "Q" of "Q={context}" is text.
        close = get_close_matches(before, models, n=1) if equals and model is None else []
        if close:
            raise ScoringError(
                f'--template "{entry}": unknown model "{before}"; did you mean "{close[0]}"?'
            )
        if model in templates:
            of = "all models" if model is None else f'model "{model}"'
            raise ScoringError(
                f"--template is given twice for {of}; give it once, and add --template "
                "MODEL=TEMPLATE for a model that needs another"
            )
        templates[model] = resolved(entry if model is None else entry[len(model) + 1 :])
    return templates.pop(None, None), {
        model: own for model, own in templates.items() if model is not None
    }
