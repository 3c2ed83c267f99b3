"""Options that say how a model is loaded."""

from typing import Annotated

import typer

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
        from nnd.metric.models import list_checkpoints

        return [*models, *list_checkpoints(checkpoints)]
    if not models:
        raise typer.BadParameter("name a model, or use --checkpoints", param_hint="--model")
    return models
