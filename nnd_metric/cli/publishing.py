"""The commands that bring data and metric to the Hub, and pairs to other tools."""

from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.cli.printing import AsJson, show, show_result
from nnd.metric.cli.shared_options import (
    OWN_TEMPLATE,
    ChatTemplate,
    SplitSeed,
    SystemPrompt,
    TemplateArguments,
    read_chat,
)


def card(
    folder: Annotated[
        Path, typer.Argument(help="A folder that `nnd convert` wrote, or one from the Hub.")
    ],
    existing: Annotated[
        Path | None,
        typer.Argument(
            metavar="CARD", help="Card to --check.", show_default="README.md of the folder"
        ),
    ] = None,
    *,
    repo: Annotated[
        str | None,
        typer.Option(
            metavar="ORG/NAME",
            help="Hub name of the dataset, for the commands on the card that load it.",
            show_default="ORG/ followed by the name of the folder",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write.", show_default="standard output")
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check a card against the data instead; works offline."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the data card of a converted folder, or check one.

    Checking lists every problem; the exit code is 1 if there are any.

    Example: nnd card quiz_design-nnd --repo my-org/quiz_design --out README.md
    """
    from nnd.cards import card as card_

    made = card_(folder, existing, repo=repo, out=out, check=check)
    if made.problems is not None:
        show_result(made, as_json, value=[str(problem) for problem in made])
        raise typer.Exit(0 if made.ok else 1)
    if made.file is not None:
        show_result(made, as_json, value=str(made.file))
    elif as_json:
        show(made.text, as_json)
    else:
        print(made.text, end="")  # not by rich, which turns :names: into emoji


def publish(
    folder: Annotated[Path, typer.Argument(help="A folder that `nnd convert` wrote.")],
    repository: Annotated[str, typer.Argument(help="ORG/name of the dataset on the Hub.")],
    *,
    private: Annotated[bool, typer.Option("--private", help="Create a private dataset.")] = False,
    pr: Annotated[
        bool, typer.Option("--pr", help="Open a pull request instead of committing to main.")
    ] = False,
    tag: Annotated[str | None, typer.Option(help="Tag for the commit, such as v1.")] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print what would change, and write nothing."),
    ] = False,
    permission: Annotated[
        str | None,
        typer.Option(
            "--i-have-permission",
            metavar="WHY",
            help="Publish although the licence does not allow it expressly, for this reason; the "
            "card quotes it.",
        ),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Replace e-mail and IP addresses by <email> and <ip>."),
    ] = False,
    keep_contacts: Annotated[
        str | None,
        typer.Option(
            metavar="WHY", help="Publish such addresses, for this reason; the card quotes it."
        ),
    ] = None,
    unverified: Annotated[
        str | None,
        typer.Option(
            metavar="WHY",
            help="Publish although files are unverified, for this reason; the card quotes it.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Publish a converted folder as a dataset on the Hub.

    It makes one commit, which is read back and compared. It needs a token with write access: `hf
    auth login`, or HF_TOKEN. Only the text between nnd's marks in the card is replaced; --dry-run
    shows the changes, and works offline.

    Example: nnd publish quiz_design-nnd my-org/quiz_design --dry-run
    """
    from nnd.converters.hub import publish as publish_

    published = publish_(
        folder,
        repository,
        private=private,
        pr=pr,
        tag=tag,
        dry_run=dry_run,
        permission=permission,
        redact=redact,
        keep_contacts=keep_contacts,
        unverified=unverified,
    )
    show_result(published, as_json)


def publish_metric(
    repository: Annotated[str, typer.Argument(help="ORG/name of the Space, e.g. my-org/nnd.")],
    *,
    sdk: Annotated[
        str,
        typer.Option(
            help="static shows the card; gradio runs a page for trying the metric, which may need "
            "a paid plan of the Hub."
        ),
    ] = "static",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print what would change, and write nothing."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Publish the metric as a Space on the Hub.

    Then evaluate.load("ORG/name") works where nnd is not installed. It needs a token with write
    access: `hf auth login`, or HF_TOKEN.

    Example: nnd publish-metric my-org/nnd
    """
    from nnd.metric.space import publish_metric as publish_

    published = publish_(
        repository,
        sdk=sdk,  # type: ignore[arg-type] # checked by the callee, which lists the choices
        dry_run=dry_run,
    )
    show_result(published, as_json)


def export(
    folder: Annotated[Path, typer.Argument(help="A folder that `nnd convert` wrote.")],
    *,
    to: Annotated[str, typer.Option(help="trl, lm-eval, jsonl or csv.")],
    out: Annotated[Path, typer.Option(help="File (jsonl, csv) or folder (trl, lm-eval) to write.")],
    template: Annotated[
        str | None,
        typer.Option(
            help="For trl and lm-eval: a template, as in `nnd evaluate`, or your "
            'own: "Q: {question}".',
            show_default=OWN_TEMPLATE,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="For lm-eval: render contexts as chats of this model, as `nnd evaluate` does.",
        ),
    ] = None,
    chat_template: ChatTemplate = "auto",
    system_prompt: SystemPrompt = None,
    template_arg: TemplateArguments = [],  # noqa: B006 - typer copies it
    for_excel: Annotated[
        bool,
        typer.Option(
            "--for-excel",
            help="For csv: put a quote before texts that a spreadsheet would evaluate as formulas.",
        ),
    ] = False,
    split: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Split by context: about this share of the contexts is `train`, the rest `test`.",
            show_default="the splits of the source",
        ),
    ] = None,
    split_seed: SplitSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Write pairs for TRL, lm-evaluation-harness, JSONL or CSV.

    Example: nnd export quiz_design-nnd --to lm-eval --out quiz_design-tasks
    Example: nnd export quiz_design-nnd --to trl --split 0.8 --out preferences
    Example: nnd export quiz_design-nnd --to lm-eval --model Qwen/Qwen3-8B --out qwen-tasks
    """
    from nnd.metric.app import export as export_

    # The called function checks --to and lists the choices.
    exported = export_(
        folder,
        out,
        to=to,  # type: ignore[arg-type]
        template=template,
        model=model,
        chat=read_chat(chat_template, system_prompt, template_arg),
        for_excel=for_excel,
        split=split,
        split_seed=split_seed,
    )
    show_result(exported, as_json)
