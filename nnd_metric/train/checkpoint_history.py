"""Histories of trainings whose checkpoints were scored afterwards."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from nnd.metric.data import read_run, read_signatures
from nnd.metric.likelihood import step_of
from nnd.metric.numbers import Flips, by_model, find_flips, pass_rates
from nnd.metric.train.history import Entry, summarise
from nnd.schemas import ScoringError


class Training(NamedTuple):
    """The checkpoints of one training.

    Attributes:
        name: Common beginning of their names.
        entries: Their pass rates, in the order of the steps.
        change: Changes of verdicts from the first to the last.
    """

    name: str
    entries: tuple[Entry, ...]
    change: Flips


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
    found = []
    for training in dict.fromkeys(step.training for step in steps.values()):
        models = [model for model, step in steps.items() if step.training == training]
        models.sort(key=lambda model: steps[model].number)
        numbers = [steps[model].number for model in models]
        _check_distinct(numbers, training, folder)
        entries = [
            _entry(number, frames[model], signatures.get(model, ""))
            for number, model in zip(numbers, models, strict=True)
        ]
        change = find_flips(frames[models[0]], frames[models[-1]])
        found.append(Training(training, tuple(entries), change))
    return found


def _check_distinct(numbers: Sequence[int], training: str, folder: Path) -> None:
    twice = [number for number in numbers if numbers.count(number) > 1]
    if twice:
        raise ScoringError(
            f"{folder}: two of its models are step {twice[0]} of {training}; evaluate one of them"
        )


def _entry(step: int, rows: pl.DataFrame, signature: str) -> Entry:
    overall, column, by = summarise(pass_rates(rows))
    return Entry(
        step=step,
        epoch=None,
        overall=overall,
        column=column,
        by=by,
        seconds=0.0,
        training_seconds=0.0,
        signature=signature,
    )
