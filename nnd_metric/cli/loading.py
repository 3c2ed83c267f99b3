"""Options that say how a model is loaded."""

from collections.abc import Sequence
from typing import Annotated

import typer

from nnd.metric.app import find_data

_PANEL = "Loading the model"

Revision = Annotated[
    str | None,
    typer.Option(
        help="Branch, tag or commit, for models that are named without one.", rich_help_panel=_PANEL
    ),
]

DType = Annotated[
    str | None,
    typer.Option(
        help="float32, bfloat16 or float16.",
        show_default="float32 on CPU, the checkpoint's elsewhere",
        rich_help_panel=_PANEL,
    ),
]

Device = Annotated[
    str | None,
    typer.Option(
        help="cpu, cuda, cuda:1, mps.", show_default="the fastest available", rich_help_panel=_PANEL
    ),
]

TrustRemoteCode = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code",
        help="Run custom code shipped with the checkpoint.",
        rich_help_panel=_PANEL,
    ),
]

Adapter = Annotated[
    str | None,
    typer.Option(
        help="Hub id or folder of a PEFT adapter to attach to the models; an adapter given as "
        "--model is attached to the base that it names.",
        rich_help_panel=_PANEL,
    ),
]

Quantise = Annotated[
    str | None,
    typer.Option(
        help="bnb-int8 or bnb-nf4: quantise the weights as they are loaded.",
        rich_help_panel=_PANEL,
    ),
]

DeviceMap = Annotated[
    str | None,
    typer.Option(help="auto: spread the weights over all devices.", rich_help_panel=_PANEL),
]


def find_models(models: list[str], checkpoints: str | None) -> list[str]:
    """Return the named models, followed by the checkpoints of a training."""
    if checkpoints is not None:
        from nnd.metric.likelihood import list_checkpoints

        return [*models, *list_checkpoints(checkpoints)]
    if not models:
        raise typer.BadParameter("name a model, or use --checkpoints", param_hint="--model")
    return models


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
