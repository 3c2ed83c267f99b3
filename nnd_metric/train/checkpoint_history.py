"""Histories of trainings whose checkpoints were scored afterwards."""

from pathlib import Path

from nnd.metric.data import read_run, read_signatures
from nnd.metric.likelihood import step_of
from nnd.metric.numbers import by_model, find_flips, pass_rates
from nnd.metric.train.history import HistoryEntry, Training, summarise
from nnd.schemas import ScoringError


def read_trainings(folder: Path) -> list[Training]:
    """Return the trainings whose checkpoints are in a run; other models are ignored.

    Args:
        folder: A folder that `nnd evaluate --checkpoints` wrote.

    Raises:
        ScoringError: If it cannot be read, has no checkpoint, or two checkpoints have the same
            step.
    """
    frames, signatures = by_model(read_run(folder)), read_signatures(folder)
    steps = {model: step for model in frames if (step := step_of(model)) is not None}
    if not steps:
        raise ScoringError(
            f"{folder}: none of the models is a checkpoint named checkpoint-N or stepN; name a "
            "run of nnd evaluate --checkpoints, or a history"
        )
    trainings: dict[str, dict[int, str]] = {}
    for model, step in steps.items():
        models = trainings.setdefault(step.training, {})
        if models.setdefault(step.number, model) != model:
            raise ScoringError(
                f"{folder}: two of its models are step {step.number} of {step.training}; evaluate "
                "one of them"
            )
    return [
        Training(
            name,
            folder,
            tuple(
                HistoryEntry(
                    step,
                    None,
                    *summarise(pass_rates(frames[model])),
                    seconds=0.0,
                    training_seconds=0.0,
                    signature=signatures.get(model, ""),
                )
                for step, model in sorted(models.items())
            ),
            find_flips(frames[models[min(models)]], frames[models[max(models)]]),
        )
        for name, models in trainings.items()
    ]
