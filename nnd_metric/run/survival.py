"""Failures that a sweep records and survives."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nnd.schemas import NNDError, Record, ScoringWarning


@dataclass(frozen=True, slots=True)
class Failure(Record):
    """A model or a dataset that a sweep left out.

    Attributes:
        model: The model, or None if the dataset cannot be read.
        dataset: The dataset, or None if the model cannot be loaded.
        reason: Why it was left out.
    """

    model: str | None
    dataset: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """The failures of a sweep so far; if `fatal`, the first one raises its error."""

    fatal: bool
    failures: list[Failure] = field(default_factory=list)

    @contextmanager
    def survived(self, model: str | None, dataset: str | None) -> Iterator[None]:
        """Record a failure inside the block with a warning, and continue after the block.

        A fatal one is raised unchanged.
        """
        try:
            yield
        except Exception as error:  # models and their custom code may raise anything
            if self.fatal:
                raise
            reason = reason_of(error)
            self.failures.append(Failure(model, dataset, reason))
            place = " on ".join(name for name in (model, dataset) if name is not None)
            message = reason if reason.startswith(place) else f"{place}: {reason}"
            warnings.warn(f"{message}; continuing without it", ScoringWarning, stacklevel=2)


def reason_of(error: Exception) -> str:
    """Return the message of an error, with its class if it is not one of ours."""
    return str(error) if isinstance(error, NNDError) else repr(error)
