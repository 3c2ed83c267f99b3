"""Failures, noted and survived."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nnd.schemas import ScoringError, ScoringWarning


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that a sweep had to do without.

    Attributes:
        model: The model, or None where a dataset cannot be read.
        dataset: The dataset, or None where a model cannot be loaded.
        reason: Why.
    """

    model: str | None
    dataset: str | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"model": self.model, "dataset": self.dataset, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong so far; `fatal` says that nothing may."""

    fatal: bool
    failures: list[Failure] = field(default_factory=list)

    @contextmanager
    def survived(self, model: str | None, dataset: str | None) -> Iterator[None]:
        """Note what goes wrong inside, and go on."""
        try:
            yield
        except Exception as error:  # models and their own code fail in any way
            if self.fatal:
                raise
            reason = reason_of(error)
            self.failures.append(Failure(model, dataset, reason))
            what = " on ".join(name for name in (model, dataset) if name is not None)
            message = reason if reason.startswith(what) else f"{what}: {reason}"
            warnings.warn(f"{message}; going on without it", ScoringWarning, stacklevel=2)


def reason_of(error: Exception) -> str:
    """Return what an error says, with its class where it is not one of ours."""
    return str(error) if isinstance(error, ScoringError) else repr(error)
