"""Failures that a sweep survives."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nnd.metric.evaluation import Failure
from nnd.schemas import ScoringError, ScoringWarning


@dataclass(frozen=True, slots=True)
class Trouble:
    """The failures so far; if `fatal`, the first failure raises an error."""

    fatal: bool
    failures: list[Failure] = field(default_factory=list)

    @contextmanager
    def survived(self, model: str | None, dataset: str | None) -> Iterator[None]:
        """Record a failure inside the block, and continue."""
        try:
            yield
        except Exception as error:  # models and their custom code may raise anything
            if self.fatal:
                raise
            reason = str(error) if isinstance(error, ScoringError) else repr(error)
            self.failures.append(Failure(model, dataset, reason))
            what = " on ".join(name for name in (model, dataset) if name is not None)
            message = reason if reason.startswith(what) else f"{what}: {reason}"
            warnings.warn(f"{message}; continuing without it", ScoringWarning, stacklevel=2)
