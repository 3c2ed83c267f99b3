"""Options that several commands share, and how they are read."""

import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from nnd.metric.chat import Chat
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
"""What options are about, as the help groups them."""

DATA = (
    "converted folder, Parquet file or its URL, ORG/name[@revision] on the Hub, or a built-in "
    "source"
)

HumanScores = Annotated[
    str | None,
    typer.Option(
        metavar="DATA",
        help="Human scores of your own: a Parquet file, or data that comes with them.",
        show_default="those that come with --data",
    ),
]

Systems = Annotated[
    list[str],
    typer.Option(
        "--system",
        metavar="MODEL=SYSTEM",
        help="The human-judged system a model stands for, where its id does not say it.",
    ),
]

PART = "Part of the pairs"

Limit = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="For a first look: whole contexts of no more pairs than this.",
        rich_help_panel=PART,
    ),
]

Categories = Annotated[
    list[str],
    typer.Option(
        "--category",
        metavar="NAME",
        help="Pairs of this error category only; repeat it for several.",
        rich_help_panel=PART,
    ),
]

HeldOut = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Only the contexts that `nnd train` and `nnd export` hold out with --split SHARE.",
        rich_help_panel=PART,
    ),
]

SplitSeed = Annotated[
    int, typer.Option(help="Seed of the cut by context: another one, another cut.")
]

ChatTemplate = Annotated[
    str,
    typer.Option(
        metavar="auto|none|FILE",
        help="Render contexts as chats: by the tokenizer's own template where a decoder-only model "
        "has one (auto), by a Jinja file, or not at all (none).",
        rich_help_panel=HOW,
    ),
]

SystemPrompt = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Text of a chat's system turn; '' removes the one that the chat template brings.",
        show_default="what the template brings",
        rich_help_panel=HOW,
    ),
]

TemplateArguments = Annotated[
    list[str],
    typer.Option(
        "--template-arg",
        metavar="KEY=VALUE",
        help="What the chat template is given, such as enable_thinking=false; repeat it for "
        "several.",
        rich_help_panel=HOW,
    ),
]

MixedRules = Annotated[
    bool,
    typer.Option(
        "--mixed-rules",
        help="Take models together that versions of nnd scored by different rules.",
    ),
]


def read_template(text: str) -> str:
    r"""Return a template as it was meant: a shell hands over \n and \t as two characters each."""
    return text.replace("\\n", "\n").replace("\\t", "\t")


def read_templates(
    entries: Sequence[str], models: Sequence[str]
) -> tuple[str | None, dict[str, str]]:
    """Return the template for all models, or None, and model → template.

    An entry that begins with the name of a model and = is of that model; a template of one's own
    may hold a = as well.

    Args:
        entries: As typed.
        models: Names of the models.

    Raises:
        ScoringError: If an entry names a model that is not there, or there are two for the same.
    """
    found: dict[str | None, str] = {}
    for entry in entries:
        own = [model for model in models if entry.startswith(f"{model}=")]
        model = max(own, key=len, default=None)
        before, equals, _ = entry.partition("=")
        # Not `did_you_mean`, which takes a part of a name, too: the "Q" of "Q={context}" is text.
        close = get_close_matches(before, models, n=1) if equals and model is None else []
        if close:
            raise ScoringError(
                f'--template "{entry}": there is no model "{before}" to evaluate; did you mean '
                f'"{close[0]}"?'
            )
        if model in found:
            of = "all models" if model is None else f'model "{model}"'
            raise ScoringError(
                f"--template: there are two for {of}; give one, and --template MODEL=TEMPLATE for "
                "a model that needs another"
            )
        found[model] = read_template(entry if model is None else entry[len(model) + 1 :])
    return found.pop(None, None), {model: own for model, own in found.items() if model is not None}


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
        template: As typed.
        system: As typed.
        arguments: KEY=VALUE each; a value that is JSON is what it says, any other is a text.

    Raises:
        ScoringError: If an argument is not KEY=VALUE, or there are two of one name.
    """
    found: dict[str, Any] = {}
    for entry in arguments:
        name, equals, value = entry.partition("=")
        if not name or not equals:
            raise ScoringError(f'--template-arg "{entry}": write KEY=VALUE')
        if name in found:
            raise ScoringError(f"--template-arg: there are two values for {name}; give one")
        found[name] = _read_value(value)
    return Chat(template, None if system is None else read_template(system), found)


def _read_value(text: str) -> object:
    """Return a value as JSON has it; True and False count as in Python, too."""
    word = text.lower()
    try:
        return json.loads(word if word in ("true", "false", "null") else text)
    except ValueError:
        return text


def read_systems(entries: Sequence[str]) -> dict[str, str]:
    """Return model → system.

    Raises:
        ScoringError: If an entry is not MODEL=SYSTEM.
    """
    systems = {}
    for entry in entries:
        model, equals, name = entry.rpartition("=")
        if not equals:
            raise ScoringError(f'--system "{entry}": write MODEL=SYSTEM')
        systems[model] = name
    return systems
