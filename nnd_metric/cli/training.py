"""The command that trains models on pairs; `cli` registers it. Imports are local."""

from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.app import find_data
from nnd.metric.cli.loading import find_all
from nnd.metric.cli.printing import AsJson, Details, quiet_loading, show_result
from nnd.metric.cli.shared_options import (
    DATA,
    OWN_TEMPLATE,
    ChatTemplate,
    SplitSeed,
    SystemPrompt,
    TemplateArguments,
    read_chat,
    read_template,
)


def train(
    model: Annotated[
        str, typer.Option(metavar="MODEL", help="Hub id, NAME or NAME@REVISION, or folder.")
    ],
    data: Annotated[str, typer.Option(metavar="DATA", help=f"Training data: {DATA}.")],
    *,
    out: Annotated[
        Path,
        typer.Option(help="Folder for the model, the runs before and after, and training.json."),
    ],
    sets: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME",
            help="Set of a suite to train on; repeat it for several.",
            show_default="the human pairs",
        ),
    ] = [],  # noqa: B006 - typer copies it
    test: Annotated[
        list[str],
        typer.Option(metavar="DATA", help="Other data to test on; repeat it for several."),
    ] = [],  # noqa: B006 - typer copies it
    loss: Annotated[str, typer.Option(help="mle, unlikelihood or margin.")] = "unlikelihood",
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Weight of the second term of the loss, next to MLE.",
            show_default="0.1 for unlikelihood, 1 for margin",
        ),
    ] = None,
    negative_tokens: Annotated[
        str,
        typer.Option(
            help="For unlikelihood: all tokens of a worse candidate, or diff: only those that the "
            "better one does not have."
        ),
    ] = "all",
    margin: Annotated[
        float,
        typer.Option(
            help="For margin: the required lead of the better candidate, in nats per token."
        ),
    ] = 0.1,
    epochs: Annotated[float, typer.Option(help="Passes over the training pairs.")] = 1.0,
    steps: Annotated[
        int | None, typer.Option(help="Optimiser steps, instead of --epochs.", show_default=False)
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Pairs that are in memory at once.")] = 8,
    accumulation: Annotated[int, typer.Option(help="Batches per optimiser step.")] = 1,
    learning_rate: Annotated[
        float, typer.Option(help="Learning rate of the first step; it falls to 0.")
    ] = 5e-5,
    seed: Annotated[int, typer.Option(help="Seed of the order of the pairs and of dropout.")] = 0,
    lora_rank: Annotated[
        int | None,
        typer.Option(
            help="Rank of LoRA adapters, which are trained in place of the model's own weights.",
            show_default="all weights are trained",
        ),
    ] = None,
    lora_alpha: Annotated[
        float | None,
        typer.Option(help="Scale of the adapters.", show_default="twice the rank"),
    ] = None,
    lora_dropout: Annotated[
        float, typer.Option(help="Share of the adapters' inputs that is dropped while training.")
    ] = 0.0,
    lora_target: Annotated[
        list[str],
        typer.Option(
            help="Layer that gets adapters, or all-linear; repeat it for several.",
            show_default="those that PEFT chooses for the architecture",
        ),
    ] = [],  # noqa: B006
    split: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="About this share of the contexts is used for training."
        ),
    ] = 0.8,
    split_seed: SplitSeed = 0,
    template: Annotated[
        str | None,
        typer.Option(
            help='Template, as in `nnd evaluate`, or your own: "Q: {question}".',
            show_default=OWN_TEMPLATE,
        ),
    ] = None,
    chat_template: ChatTemplate = "auto",
    system_prompt: SystemPrompt = None,
    template_arg: TemplateArguments = [],  # noqa: B006
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume an interrupted training in --out.")
    ] = False,
    dtype: Annotated[
        str, typer.Option(help="float32; in bfloat16 small updates get lost.")
    ] = "float32",
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, mps.", show_default="the fastest available")
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Train a model on pairs, and test it before and after.

    The model learns to give better candidates a higher likelihood. It is tested before and after on
    held-out contexts, and on other data if given. The trained likelihood is the one that `nnd
    evaluate` computes.

    Example: nnd train --model gpt2 --data quiz_design --test frank --out gpt2-quiz
    Example: nnd train --model gpt2 --data my_suite --set negation --set numbers --out trained
    """
    from nnd.metric.likelihood import Loading
    from nnd.metric.text import check_template
    from nnd.metric.train import Lora, Objective, Schedule

    # The called function checks the choices and lists them.
    objective = Objective(loss, alpha, negative_tokens, margin)  # type: ignore[arg-type]
    schedule = Schedule(epochs, steps, batch_size, accumulation, learning_rate, seed)
    lora = Lora(lora_rank, lora_alpha, lora_dropout, tuple(lora_target))
    if template is not None:
        template = read_template(template)
        check_template(template)
    (pairs,), tests = find_all([model], [data]), [find_data(name) for name in test]

    from nnd.metric.train import train as train_  # from here on it takes seconds

    quiet_loading()  # Trainer imports bitsandbytes if it is installed, which logs on import
    try:
        training = train_(
            model,
            pairs,
            out=out,
            sets=sets,
            tests=tests,
            split=split,
            split_seed=split_seed,
            template=template,
            chat=read_chat(chat_template, system_prompt, template_arg),
            resume=resume,
            objective=objective,
            lora=lora,
            schedule=schedule,
            loading=Loading(dtype=dtype, device=device),
        )
    except KeyboardInterrupt:
        if not out.is_dir():
            raise
        raise KeyboardInterrupt("run the same command with --resume to continue") from None
    show_result(training, as_json, details=details, after=[f"written to {out}"])
