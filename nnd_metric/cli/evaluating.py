"""The command that scores pairs with models."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from nnd.metric.app import find_data
from nnd.metric.cli.alternatives import Vary, estimate_cost, score_runs, vary_choices
from nnd.metric.cli.loading import (
    Adapter,
    Device,
    DeviceMap,
    DType,
    Quantise,
    Revision,
    TrustRemoteCode,
    find_all,
    find_models,
)
from nnd.metric.cli.printing import (
    AsJson,
    Details,
    exit_on,
    quiet_loading,
    resumable,
    show_result,
    show_sweep,
)
from nnd.metric.cli.pushing import check_pushable_run, push_run
from nnd.metric.cli.shared_options import (
    DATA,
    HOW,
    OWN_TEMPLATE,
    RUN,
    Categories,
    ChatTemplate,
    HeldOut,
    HumanScores,
    Limit,
    Model,
    Splits,
    SplitSeed,
    SystemPrompt,
    Systems,
    TemplateArguments,
    read_chat,
    read_of_models,
    read_templates,
)
from nnd.metric.cli.workers import (
    NumActors,
    NumGPUs,
    OnRay,
    RayAddress,
    Worker,
    score_share,
    scorer_on_ray,
    tell_of_workers,
)


def evaluate(
    context: typer.Context,
    *,
    model: Model = [],  # noqa: B006 - typer copies it
    checkpoints: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Also score the checkpoints of a training, in order of their steps: those in a "
            "folder (checkpoint-N), or the revisions of a model on the Hub (step1000).",
        ),
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Score a list of runs instead: a YAML file of entries with model, data and, if "
            "needed, revision, protocol, template, system, … (runs.schema.json).",
        ),
    ] = None,
    data: Annotated[
        list[str],
        typer.Option(metavar="DATA", help=f"What to score: {DATA}; repeat it for several."),
    ] = [],  # noqa: B006
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for result.json and log_likelihoods.parquet; with several datasets, it "
            "gets a subfolder for each; with --runs, subfolders PROTOCOL[+TEMPLATE]/DATASET."
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(help="native, laban2022, bartscore, sum, bytes or pmi.", rich_help_panel=HOW),
    ] = "native",
    template: Annotated[
        list[str],
        typer.Option(
            help="instruction (what people asked the systems), default (the stored context), "
            "mixqg, prophetnet, macaw, unifiedqa, t5-ssm-nq, t5-summarize, chat-turns (the turns "
            "of a dialogue), auto (by the model's name), or your own: "
            '"Q: {question}"; MODEL=TEMPLATE for one model of several.',
            show_default=OWN_TEMPLATE,
            rich_help_panel=HOW,
        ),
    ] = [],  # noqa: B006 - typer copies it
    chat_template: ChatTemplate = "auto",
    system_prompt: SystemPrompt = None,
    template_arg: TemplateArguments = [],  # noqa: B006
    keep: Annotated[
        str | None,
        typer.Option(
            help="Part of a context that remains after a cut to the model's window: beginning or "
            "end.",
            show_default="beginning for encoder-decoders, end for decoder-only models",
            rich_help_panel=HOW,
        ),
    ] = None,
    human_scores: HumanScores = None,
    system: Systems = [],  # noqa: B006 - typer copies it
    split: Splits = [],  # noqa: B006
    limit: Limit = None,
    category: Categories = [],  # noqa: B006
    held_out: HeldOut = None,
    split_seed: SplitSeed = 0,
    vary: Vary = None,
    no_unconditional: Annotated[
        bool,
        typer.Option(
            "--no-unconditional",
            help="Skip the baseline: the same model without contexts.",
            rich_help_panel=HOW,
        ),
    ] = False,
    token_budget: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Tokens held in memory at once.",
            show_default="what memory allows",
            rich_help_panel=RUN,
        ),
    ] = None,
    matmul: Annotated[
        str,
        typer.Option(
            metavar="PRECISION",
            help="How a GPU multiplies float32 matrices: highest, or high (TF32: faster, about as "
            "exact as float16).",
            rich_help_panel=RUN,
        ),
    ] = "highest",
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache",
            help="Neither store likelihoods nor reuse those of an earlier run.",
            rich_help_panel=RUN,
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Estimate the cost (tokens, operations, memory, time) without loading weights or "
            "writing anything.",
            rich_help_panel=RUN,
        ),
    ] = False,
    worker: Worker = None,
    ray: OnRay = False,
    ray_address: RayAddress = None,
    num_gpus: NumGPUs = None,
    num_actors: NumActors = None,
    revision: Revision = None,
    dtype: DType = None,
    device: Device = None,
    trust_remote_code: TrustRemoteCode = False,
    adapter: Adapter = None,
    quantise: Quantise = None,
    device_map: DeviceMap = None,
    push_to_model_card: Annotated[
        bool,
        typer.Option(
            "--push-to-model-card",
            help="Open a pull request on the Hub that adds the pass rates to each model's card.",
        ),
    ] = False,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Score pairs with models: pass rates and agreement.

    Run the command again to resume: finished likelihoods are not computed again. A new model is
    added to a run in --out; the others remain. If a model or dataset fails, the others are still
    scored; the failure is reported, and the exit code is 1.

    Example: nnd evaluate --model gpt2 --data quiz_design --limit 200
    Example: nnd evaluate --model gpt2 --adapter ./my-lora --data quiz_design
    Example: nnd evaluate --model gpt2 --model gpt2-large --data quiz_design-nnd --out run
    Example: nnd evaluate --model gpt2 --data quiz_design --data summeval --dry-run
    Example: nnd evaluate --model gpt2 --data quiz_design --vary protocol,dtype,normalise
    Example: nnd evaluate --checkpoints trained --data quiz_design-nnd --out scored
    Example: nnd evaluate --model gpt2 --data quiz_design-nnd --out run --worker 1/8
    Example: nnd evaluate --runs runs.yaml --out sweep
    """
    if push_to_model_card:
        parts = (limit, held_out, checkpoints, category or None, split or None)
        part = any(each is not None for each in parts)
        check_pushable_run(model, revision, part=part, changed=bool(adapter or quantise))

    from nnd.metric.likelihood import Loading, Scoring, name_models, scoring_of_each

    loading = Loading(revision, dtype, device, trust_remote_code, adapter, quantise, device_map)
    if runs is not None:
        scoring = Scoring(
            unconditional=not no_unconditional,
            token_budget=token_budget,
            cache=not no_cache,
            matmul=matmul,  # type: ignore[arg-type] # checked by the callee
        )
        results = score_runs(context, runs, out, limit=limit, scoring=scoring, loading=loading)
        show_sweep(results, as_json, details=details)
        exit_on(results)
        return
    if not data:
        raise typer.BadParameter("name a dataset, or use --runs", param_hint="--data")
    model = find_models(model, checkpoints)
    names = name_models(model, loading)
    for_all, templates = read_templates(template, names)
    scoring = Scoring(
        protocol,
        for_all,
        keep,  # type: ignore[arg-type] # checked by the callee, which lists the choices
        not no_unconditional,
        token_budget,
        cache=not no_cache,
        chat=read_chat(chat_template, system_prompt, template_arg),
        matmul=matmul,  # type: ignore[arg-type] # as above
    )
    scoring_of_each(names, scoring, templates)
    data = find_all(model, data)

    from nnd.metric.run import evaluate as evaluate_  # from here on it takes seconds

    quiet_loading()
    chosen: dict[str, Any] = {
        "splits": split,
        "limit": limit,
        "categories": category,
        "held_out": held_out,
        "split_seed": split_seed,
        "loading": loading,
    }
    if dry_run:
        alone = not (vary or worker)
        cost = estimate_cost(
            model, data, alone=alone, templates=templates, scoring=scoring, **chosen
        )
        show_result(cost, as_json, details=details)
        return
    chosen["out"] = out
    on_ray = scorer_on_ray(ray, ray_address, num_gpus, num_actors, worker=worker, out=out)
    if vary is not None:
        chosen["scoring"] = replace(scoring, template=next(iter(templates.values()), for_all))
        alone = not (human_scores or system or push_to_model_card or worker or on_ray)
        varied = vary_choices(model, data, vary, alone=alone, **chosen)
        after = [] if out is None else [f"written to {out}"]
        show_result(varied, as_json, details=details, after=after)
        return
    chosen |= {
        "human_scores": None if human_scores is None else find_data(human_scores),
        "systems": read_of_models("system", system),
        "templates": templates,
        "scoring": scoring,
    }
    if worker is not None:
        alone = not (push_to_model_card or details)
        show_result(score_share(model, data, worker, alone=alone, **chosen), as_json)
        return
    tell_of_workers()
    with resumable(cached=on_ray is not None or not no_cache):
        results = (on_ray or evaluate_)(model, data, **chosen)
    show_sweep(results, as_json, details=details, alone=len(data) == 1, out=out)
    if push_to_model_card:
        push_run(results, name_models(model))
    exit_on(results)
