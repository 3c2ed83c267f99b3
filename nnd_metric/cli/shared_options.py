"""Options that several commands share, and how they are read."""

import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from nnd.metric.text import Chat
from nnd.schemas import ScoringError

Runs = Annotated[
    list[Path], typer.Argument(metavar="RUN", help="Folders that `nnd evaluate` wrote.")
]

Model = Annotated[
    list[str],
    typer.Option(
        metavar="MODEL",
        help="Hub id, NAME or NAME@REVISION, or folder of a model or an adapter, or a GGUF file; "
        "repeat it for several.",
    ),
]

HOW, RUN = "How pairs are scored", "Memory, store and workers"
"""Headings of option groups in the help."""

DATA = (
    "a converted folder, a Parquet file or its URL, ORG/name[@revision] on the Hub, or a built-in "
    "source"
)

HumanScores = Annotated[
    str | None,
    typer.Option(
        metavar="DATA",
        help="Your own human scores: a Parquet file, or data that comes with them.",
        show_default="those that come with --data",
    ),
]

Systems = Annotated[
    list[str],
    typer.Option(
        "--system",
        metavar="MODEL=SYSTEM",
        help="The human-judged system that a model stands for, if its id does not name it.",
    ),
]

PART = "Part of the pairs"

Splits = Annotated[
    list[str],
    typer.Option(
        "--split",
        metavar="NAME",
        help="Only pairs of this split of the data (repeatable).",
        show_default="test, if the others are called train, valid, dev or the like; else all",
        rich_help_panel=PART,
    ),
]

ScoredSplits = Annotated[
    list[str],
    typer.Option(
        "--split",
        metavar="NAME",
        help="Only pairs of this split of the data (repeatable).",
        show_default="all that were scored",
    ),
]

Limit = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Score at most this many tests, for a first look: up to three of each context.",
        rich_help_panel=PART,
    ),
]

Categories = Annotated[
    list[str],
    typer.Option(
        "--category",
        metavar="NAME",
        help="Only pairs of this error category; repeat it for several.",
        rich_help_panel=PART,
    ),
]

HeldOut = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Score only the contexts that `nnd train` and `nnd export` hold out with --split "
        "SHARE.",
        rich_help_panel=PART,
    ),
]

SplitSeed = Annotated[int, typer.Option(help="Seed of the split by context.")]

ChatTemplate = Annotated[
    str,
    typer.Option(
        metavar="auto|none|FILE",
        help="Render contexts as chats: with the tokenizer's own template if a decoder-only model "
        "has one (auto), with a Jinja file, or not at all (none).",
        rich_help_panel=HOW,
    ),
]

SystemPrompt = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Text of a chat's system turn; '' removes the default of the chat template.",
        show_default="the template's default",
        rich_help_panel=HOW,
    ),
]

TemplateArguments = Annotated[
    list[str],
    typer.Option(
        "--template-arg",
        metavar="KEY=VALUE",
        help="Argument of the chat template, such as enable_thinking=false; repeat it for several.",
        rich_help_panel=HOW,
    ),
]

MixedRules = Annotated[
    bool,
    typer.Option(
        "--mixed-rules",
        help="Also take models that were scored by different protocols, or by different rules of "
        "different nnd versions. Across protocols there are no p-values and no agreement, except "
        "for one and the same model.",
    ),
]


OWN_TEMPLATE = "instruction for chats, default for plain text"
"""What a model reads by itself, in the help."""


def read_template(text: str) -> str:
    r"""Return a template with \n and \t resolved, which a shell passes as two characters each."""
    return text.replace("\\n", "\n").replace("\\t", "\t")


def read_templates(
    entries: Sequence[str], models: Sequence[str]
) -> tuple[str | None, dict[str, str]]:
    """Return the template for all models, or None, and model → template.

    An entry that begins with the name of a model and = applies to that model; a template may
    contain a = as well.

    Raises:
        ScoringError: If an entry names an unknown model, or there are two entries for the same
            model.
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
        templates[model] = read_template(entry if model is None else entry[len(model) + 1 :])
    return templates.pop(None, None), {
        model: own for model, own in templates.items() if model is not None
    }


def read_matches(entries: Sequence[str]) -> dict[str, list[str]]:
    """Return operation → error categories.

    Raises:
        ScoringError: If an entry is not OP=CATEGORY.
    """
    matches: dict[str, list[str]] = {}
    for entry in entries:
        operation, equals, category = entry.partition("=")
        if not (operation and equals and category):
            raise ScoringError(f'--match "{entry}": write OP=CATEGORY')
        matches.setdefault(operation, []).append(category)
    return matches


def read_chat(template: str, system: str | None, arguments: Sequence[str]) -> Chat:
    """Return how contexts become chats.

    Args:
        template: Command-line value.
        system: Command-line value.
        arguments: Entries KEY=VALUE; a value that is valid JSON is parsed, any other is a text.

    Raises:
        ScoringError: If an argument is not KEY=VALUE, or a key is given twice.
    """
    values: dict[str, Any] = {}
    for entry in arguments:
        name, equals, value = entry.partition("=")
        if not name or not equals:
            raise ScoringError(f'--template-arg "{entry}": write KEY=VALUE')
        if name in values:
            raise ScoringError(f"--template-arg: {name} has two values; give one")
        values[name] = _read_value(value)
    return Chat(template, None if system is None else read_template(system), values)


def _read_value(text: str) -> object:
    """Return a value parsed as JSON; Python's True and False are accepted, too."""
    word = text.lower()
    try:
        return json.loads(word if word in ("true", "false", "null") else text)
    except ValueError:
        return text


def read_of_models(option: str, entries: Sequence[str]) -> dict[str, str]:
    """Return model → its system or family, from entries MODEL=SYSTEM of `--system` or the like.

    Raises:
        ScoringError: If an entry has another form.
    """
    values = {}
    for entry in entries:
        model, equals, value = entry.rpartition("=")  # the name of a model may contain a =
        if not equals:
            raise ScoringError(f'--{option} "{entry}": write MODEL={option.upper()}')
        values[model] = value
    return values
