"""Histories of trainings whose checkpoints were scored afterwards."""

from collections.abc import Iterator
from pathlib import Path

from nnd.metric.data import read_run, read_signatures
from nnd.metric.likelihood import step_of
from nnd.metric.numbers import by_model, find_flips, pass_rates
from nnd.metric.train.history import HistoryEntry, TrainingRun
from nnd.schemas import ScoringError


def read_trainings(folder: Path) -> Iterator[TrainingRun]:
    """Yield the trainings whose checkpoints are in a run; other models are ignored.

    Raises ScoringError if there is no checkpoint, or if two checkpoints have the same step.
    """
    frames, signatures = by_model(read_run(folder)), read_signatures(folder)
    trainings: dict[str, dict[int, str]] = {}
    for model in frames:
        if (step := step_of(model)) is not None:
            models = trainings.setdefault(step.training, {})
            if step.number in models:
                raise ScoringError(
                    "name.twice",
                    f"two of its models are step {step.number} of {step.training}",
                    folder,
                    "evaluate one of them",
                )
            models[step.number] = model
    if not trainings:
        raise ScoringError(
            "model.no-checkpoints",
            "none of the models is a checkpoint named checkpoint-N or stepN",
            folder,
            "name a run of nnd evaluate --checkpoints, or a history",
        )
    for training, models in trainings.items():
        steps = sorted(models.items())
        entries = [
            HistoryEntry.of(pass_rates(frames[model]), number, signatures.get(model, ""))
            for number, model in steps
        ]
        change = find_flips(frames[steps[0][1]], frames[steps[-1][1]])
        yield TrainingRun(training, folder, entries, change)
