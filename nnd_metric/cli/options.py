"""Options that several commands share, and how they are read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from nnd.schemas import ScoringError

Runs = Annotated[
    list[Path], typer.Argument(metavar="RUN", help="Folders that `nnd evaluate` wrote.")
]

Model = Annotated[
    list[str],
    typer.Option(metavar="MODEL", help="Hub id or folder of a model; repeat it for several."),
]

DATA = "converted folder, Parquet file, ORG/name[@revision] on the Hub, or a built-in source"

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
