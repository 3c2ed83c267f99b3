"""The commands that bring data and metric to the Hub, and pairs to other tools."""

from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.cli.options import (
    ChatTemplate,
    SplitSeed,
    SystemPrompt,
    TemplateArguments,
    read_chat,
)
from nnd.metric.cli.printing import AsJson, show, show_result


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
            help="Where the data will be, for the commands on the card that load them.",
            show_default="ORG/ and the name of the folder",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write.", show_default="print it")
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check a card against the data instead; needs no network."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the data card of a converted folder, or check one.

    Checking lists every problem; the exit code is 1 if there is any.

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
        print(made.text, end="")  # as it is: rich would make emoji of :names:


def publish(
    folder: Annotated[Path, typer.Argument(help="A folder that `nnd convert` wrote.")],
    repository: Annotated[str, typer.Argument(help="ORG/name of the dataset on the Hub.")],
    *,
    private: Annotated[
        bool, typer.Option("--private", help="Make it private: for those who are let in.")
    ] = False,
    pr: Annotated[
        bool, typer.Option("--pr", help="Open a pull request instead of committing to main.")
    ] = False,
    tag: Annotated[str | None, typer.Option(help="Name for the commit, such as v1.")] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print what would change; write nothing, here or there."),
    ] = False,
    permission: Annotated[
        str | None,
        typer.Option(
            "--i-have-permission",
            metavar="WHY",
            help="Publish though the licence does not say so; is quoted in the card.",
        ),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Replace e-mail and IP addresses by <email> and <ip>."),
    ] = False,
    keep_contacts: Annotated[
        str | None,
        typer.Option(metavar="WHY", help="Publish such addresses; is quoted in the card."),
    ] = None,
    unverified: Annotated[
        str | None,
        typer.Option(
            metavar="WHY",
            help="Publish although files are unverified; is quoted in the card.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Publish a converted folder as a dataset on the Hub.

    It makes one commit, which is read back and compared. Needs a token that may write: `hf auth
    login`, or HF_TOKEN. Of the card, only what stands between nnd's marks is replaced; --dry-run
    shows how.

    Example: nnd publish quiz_design-nnd my-org/quiz_design --dry-run
    """
    from nnd.converters.publish import publish as publish_

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
            help="static shows the card; gradio runs a page to try the metric on, which the Hub "
            "may want to be paid for."
        ),
    ] = "static",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print what would change; write nothing, here or there."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Publish the metric as a Space on the Hub.

    Then evaluate.load("ORG/name") works where nnd is not installed. Needs a token that may write:
    `hf auth login`, or HF_TOKEN.

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
    out: Annotated[Path, typer.Option(help="File (jsonl, csv) or folder (trl, lm-eval) to make.")],
    template: Annotated[
        str, typer.Option(help='For trl and lm-eval: as of `nnd evaluate`, or "Q: {question}".')
    ] = "default",
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
            "--for-excel", help="For csv: a quote before texts that a spreadsheet would compute."
        ),
    ] = False,
    split: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Cut by context: about this share of the contexts is `train`, the rest `test`.",
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
    from nnd.metric.cli.exporting import export as export_

    # The choices of --to are checked by the callee, which lists them.
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
