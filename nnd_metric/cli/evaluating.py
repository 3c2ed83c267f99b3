"""`nnd evaluate`: one command for each way of scoring pairs with models. Imports are local."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import typer

from nnd.metric.app import find_data
from nnd.metric.cli.options import key_of, name_of, resolved
from nnd.metric.cli.pushing import check_pushable_run, push_run
from nnd.metric.cli.verbs import Typed
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.app import JudgedModels
    from nnd.metric.run import Sweep

_WAYS = {"runs": "evaluate_runs", "dry_run": "estimate", "dimensions": "vary"}
"""Option → the function that is called in the place of `evaluate`; the first one counts."""

_REFUSED = {
    "dry_run": (
        ("dimensions", "worker"),
        "--dry-run estimates a whole run",
        "leave out --vary and --worker",
    ),
    "dimensions": (
        ("human_scores", "systems", "worker", "ray", "ray_address", "push_to_model_card"),
        "--vary works with one --model and one --data",
        (
            "leave out further ones, --human-scores, --system, --worker, --ray and "
            "--push-to-model-card"
        ),
    ),
    "worker": (
        ("push_to_model_card", "details"),
        "--worker scores a share of the pairs",
        "leave out --details and --push-to-model-card",
    ),
}
"""Option → options that do not go with it, why, and what to do."""

_OF_JUDGED = {"set_name": "--set", "certainty": "--certainty", "any_size": "--any-size"}
"""What goes with the judged systems of a dataset → its option."""

_WITH_RUNS = {
    *("runs", "out", "data", "limit", "details", "json", "dry_run"),
    *("scoring_unconditional", "scoring_token_budget", "scoring_matmul", "scoring_cache"),
    *("loading_device", "loading_device_map", "loading_trust_remote_code"),
}
"""Options that go with a list of runs: where to run it, and what to show."""


def evaluate(
    typed: Typed,
    *,
    templates: Sequence[str] = (),
    checkpoints: str | None = None,
    dry_run: bool = False,  # noqa: ARG001 - it chooses the way, as do `runs` and others
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
            writing anything. Of a list of runs: what is downloaded, what fits, what is left out.
        ray: Score in parts, by workers that Ray starts: on the cluster that RAY_ADDRESS names, else
            on this machine. Needs --out, in a folder that all machines share.
        push_to_model_card: Open a pull request on the Hub that adds the pass rates to each model's
            card.
    """
    way = next((way for option, way in _WAYS.items() if option in typed.values), "evaluate")
    models, data = typed.values.get("models", []), typed.values.get("data", [])
    if push_to_model_card:
        check_pushable_run(models, typed.values)
    if way == "evaluate_runs":
        _check_only_with_runs(typed)
        if "dry_run" in typed.values:
            typed.show(typed.call("estimate_runs"))
            return
        with _resumable(cached=typed.arguments(way)["scoring"].cache):
            results: Sweep = typed.call(way)
        show_sweep(typed, results)
        raise typer.Exit(0 if results.ok else 1)
    if (judged := _find_judged(typed)) is not None:
        models, data = [*models, *judged.models], [judged.data]
    elif not data:
        raise typer.BadParameter("name a dataset, or use --judged or --runs", param_hint="--data")
    what = _read(typed, _find_models(models, checkpoints), data, templates, judged)
    _check_options(typed, what)
    if way == "estimate":
        typed.show(typed.call(way, **what))
    elif way == "vary":
        _vary(typed, what)
    else:
        ray = ray or "ray_address" in typed.values
        _score(typed, what, judged, ray=ray, push=push_to_model_card)


def _score(
    typed: Typed, what: dict[str, Any], judged: "JudgedModels | None", *, ray: bool, push: bool
) -> None:
    """Score pairs here, as one of several workers, or by workers of Ray."""
    from nnd.metric.run import check_shared, ignored_workers, read_worker

    worker = read_worker(typed.values["worker"]) if "worker" in typed.values else None
    check_shared(worker, ray or None, typed.values.get("out"))
    if worker is None and (line := ignored_workers()) is not None:
        print(f"nnd: {line}", file=sys.stderr)
    what |= {"worker": worker} if ray else {"worker": worker, "ray": None}
    with _resumable(cached=ray or worker is not None or what["scoring"].cache):
        results = typed.call("evaluate", **what)
    if worker is not None:
        typed.show(results)
        return
    show_sweep(typed, results, alone=len(what["data"]) == 1, judged=judged)
    if push:
        push_run(results, what["models"])
    raise typer.Exit(0 if results.ok else 1)


def _find_judged(typed: Typed) -> "JudgedModels | None":
    """Return the models behind the judged systems, if they are asked for; count them on stderr."""
    if "judged" not in typed.values:
        for key, option in _OF_JUDGED.items():
            if key in typed.values:
                raise ScoringError(
                    "option.needs-another", f"{option} goes with --judged", remedy="leave it out"
                )
        return None
    if "data" in typed.values or "human_scores" in typed.values:
        raise ScoringError(
            "option.conflict",
            "--judged names the dataset, with its human scores",
            remedy="leave out --data and --human-scores",
        )
    judged: JudgedModels = typed.call("judged_models")
    print(f"nnd: {judged.headline()}", file=sys.stderr)
    return judged


def _read(
    typed: Typed,
    models: list[str],
    data: Sequence[str],
    templates: Sequence[str],
    judged: "JudgedModels | None",
) -> dict[str, Any]:
    """Return what is asked, checked as far as that is possible without torch."""
    from nnd.metric.likelihood import name_models, scoring_of_each

    asked = typed.arguments("evaluate", "data", "human_scores", "templates")
    names = name_models(models, asked["loading"])
    for_all, own = read_templates(templates, names)
    scoring, systems = replace(asked["scoring"], template=for_all), asked.get("systems")
    if judged is not None:
        systems = {**judged.systems, **(systems or {})}
        own = {**({} if for_all else judged.templates), **own}
    scoring_of_each(names, scoring, own)
    found = find_all(models, data)
    read = {"models": models, "data": found, "templates": own, "scoring": scoring}
    return read | {"systems": systems}


def _check_options(typed: Typed, what: dict[str, Any]) -> None:
    """Refuse options that do not go with each other."""
    options, is_alone = typed.values.keys(), len(what["models"]) == len(what["data"]) == 1
    for option, (refused, why, remedy) in _REFUSED.items():
        is_wrong = options & {*refused} or (option == "dimensions" and not is_alone)
        if option in options and is_wrong:
            raise ScoringError("option.conflict", why, remedy=remedy)
    if options & {"ray_num_gpus", "ray_num_workers"} and not options & {"ray", "ray_address"}:
        raise ScoringError(
            "option.needs-another",
            "--num-gpus and --num-workers need Ray",
            remedy="add --ray, or leave them out",
        )


def _vary(typed: Typed, what: dict[str, Any]) -> None:
    (model,), (data,), scoring = what["models"], what["data"], what["scoring"]
    scoring = replace(scoring, template=next(iter(what["templates"].values()), scoring.template))
    found = typed.call("vary", model=model, data=data, scoring=scoring)
    typed.show(found, filter(None, [typed.values.get("out")]))


def _check_only_with_runs(typed: Typed) -> None:
    """Refuse options that belong in the list of runs, and a list without a folder."""
    for signature in typed.signatures.values():
        for parameter in signature.parameters:
            if key_of(parameter) in typed.values.keys() - _WITH_RUNS:
                raise ScoringError(
                    "option.conflict",
                    f"{name_of(parameter)} cannot be combined with --runs",
                    remedy="leave it out, or write it into the file of runs, if that has a key "
                    "for it",
                )
    if not typed.values.keys() & {"out", "dry_run"}:
        raise typer.BadParameter("name a folder for the results", param_hint="--out")


def show_sweep(
    typed: Typed, found: "Sweep", *, alone: bool = False, judged: "JudgedModels | None" = None
) -> None:
    """Print the results of models, `alone` as those of one dataset, and which were `judged`."""
    from nnd.metric.show import failure_table

    evaluations = [*found.evaluations.values()]
    notes: list[Table | str] = [failure_table(found.failures)] if found.failures else []
    notes += [] if judged is None else judged.summary()
    notes += [f"written to {folder}" for folder in found.folders.values()]
    if evaluations and "details" not in typed.values:
        folders = [*found.folders.values()] if alone else []
        notes.append(
            ", or: ".join(["For more, use --details", *(f"nnd report {f}" for f in folders)])
        )
    typed.show(evaluations[0] if alone and evaluations else found, (), *notes)


@contextmanager
def _resumable(*, cached: bool) -> Iterator[None]:
    """If work is interrupted, say that it is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        if not cached:
            raise
        raise KeyboardInterrupt("run the same command to resume") from None


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
                "name.unknown",
                f'unknown model "{before}"',
                f'--template "{entry}"',
                f'did you mean "{close[0]}"?',
            )
        if model in templates:
            of = "all models" if model is None else f'model "{model}"'
            raise ScoringError(
                "name.twice",
                f"two templates for {of}",
                "--template",
                "give one, and add --template MODEL=TEMPLATE for a model that needs another",
            )
        templates[model] = resolved(entry if model is None else entry[len(model) + 1 :])
    for_all = templates.pop(None, None)
    return for_all, {str(model): own for model, own in templates.items()}
