"""The checkpoints of one training: where they are, in the order of their steps."""

import re
from pathlib import Path
from typing import NamedTuple

from nnd.schemas import ScoringError

_STEP = re.compile(r"(?P<training>.*?)[-_/@]?(?:checkpoint|step)[-_]?(?P<step>\d+)[^/@]*")


class TrainingStep(NamedTuple):
    """The place of a checkpoint in a training: the name of the training, and the step."""

    training: str
    number: int


def step_of(name: str) -> TrainingStep | None:
    """Return the training and the step that a model's name contains, or None.

    `runs/a/checkpoint-500` is step 500 of `runs/a`, `org/model@step1000` step 1,000 of `org/model`.
    """
    match = _STEP.fullmatch(name)
    return match and TrainingStep(match["training"], int(match["step"]))


def list_checkpoints(place: str | Path) -> list[str]:
    """Return the checkpoints of one training as models to evaluate, in order of their steps.

    `place` is a folder that holds folders named checkpoint-N, or the Hub id of a model with
    revisions such as step1000.
    """
    folder = Path(place)
    folders = (str(path) for path in folder.glob("checkpoint-*") if path.is_dir())
    names = folders if folder.is_dir() else _of_hub(str(place))
    steps = {name: step for name in names if (step := step_of(name)) is not None}
    if not steps:
        raise ScoringError(
            "model.no-checkpoints",
            "no checkpoints found",
            place,
            "name a folder of folders called checkpoint-N, or a model on the Hub with "
            "revisions such as step1000",
        )
    return sorted(steps, key=lambda name: steps[name].number)


def _of_hub(model: str) -> list[str]:
    from huggingface_hub import list_repo_refs  # noqa: PLC0415 - slow, and curves need only names
    from huggingface_hub.errors import (  # type: ignore[attr-defined]  # noqa: PLC0415
        HFValidationError,
        HTTPError,
    )

    try:
        refs = list_repo_refs(model)
    except (HTTPError, HFValidationError, OSError) as error:
        raise ScoringError(
            "model.no-checkpoints",
            f"not a folder, and the Hub does not list its revisions ({str(error).splitlines()[0]})",
            model,
            "name a folder or the Hub id of a model",
        ) from error
    return [f"{model}@{ref.name}" for ref in (*refs.branches, *refs.tags)]
