"""The objective and the schedule of a training."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from nnd.schemas import (
    ALWAYS,
    SPARSE,
    Amount,
    Count,
    Natural,
    Positive,
    Record,
    ScoringError,
    did_you_mean,
)

Loss = Literal["mle", "unlikelihood", "margin"]
NegativeTokens = Literal["all", "diff"]

_ALPHA: dict[Loss, float] = {"mle": 0.0, "unlikelihood": 0.1, "margin": 1.0}


@dataclass(frozen=True, slots=True)
class Objective(Record):
    """The objective: MLE on the better candidates, plus a second term times alpha (`losses`).

    Attributes:
        loss: `mle`: no second term; `unlikelihood`: tokens of the worse candidate become less
            likely; `margin`: the better candidate becomes more likely than the worse one.
        alpha: Weight of the second term; None means 0.1 for unlikelihood and 1 for margin.
        negative_tokens: Tokens of the worse candidate that unlikelihood counts: `all`, or `diff`,
            those that the better candidate does not have at that place.
        margin: The required lead of the better candidate for `margin`, in nats per token.
    """

    loss: Annotated[Loss, ALWAYS] = "unlikelihood"
    alpha: Annotated[Amount | None, ALWAYS, SPARSE] = None
    negative_tokens: Annotated[NegativeTokens, ALWAYS] = "all"
    margin: Annotated[Positive, ALWAYS] = 0.1

    def __post_init__(self) -> None:
        _check_choice("loss", self.loss, get_args(Loss))
        _check_choice("negative_tokens", self.negative_tokens, get_args(NegativeTokens))
        if self.alpha is not None and self.loss == "mle":
            raise ScoringError("alpha weighs a second term, but mle has none; leave alpha out")
        if not 0 <= self.weight < math.inf:
            raise ScoringError(f"alpha is {self.alpha}; give 0 or more")
        if not 0 < self.margin < math.inf:
            raise ScoringError(f"margin is {self.margin}; give more than 0")

    @property
    def weight(self) -> float:
        """The weight of the second term; 0 means plain MLE, which never reads a worse candidate."""
        return _ALPHA[self.loss] if self.alpha is None else self.alpha

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values; alpha is never None."""
        return Record.to_dict(self) | {"alpha": self.weight}


@dataclass(frozen=True, slots=True)
class Schedule(Record):
    """The schedule of a training: AdamW, with a learning rate that falls linearly to 0.

    Attributes:
        epochs: Passes over the training pairs.
        steps: Optimiser steps, instead of epochs.
        batch_size: Pairs per step.
        learning_rate: The learning rate of the first step.
        seed: Seed of the order of the pairs, of dropout and of all other random numbers.
    """

    epochs: Annotated[Positive, ALWAYS] = 1.0
    steps: Annotated[Natural | None, ALWAYS] = None
    batch_size: Annotated[Natural, ALWAYS] = 8
    learning_rate: Annotated[Positive, ALWAYS] = 5e-5
    seed: Annotated[Count, ALWAYS] = 0

    def __post_init__(self) -> None:
        if not 0 < self.epochs < math.inf:
            raise ScoringError(f"epochs is {self.epochs}; give more than 0")
        if self.steps is not None and self.steps < 1:
            raise ScoringError(f"steps is {self.steps}; give 1 or more")
        if self.batch_size < 1:
            raise ScoringError(f"batch_size is {self.batch_size}; give 1 or more")
        if not 0 < self.learning_rate < math.inf:
            raise ScoringError(f"learning_rate is {self.learning_rate}; give more than 0")
        if not 0 <= self.seed < 2**32:
            raise ScoringError(f"seed is {self.seed}; give a number from 0 to 4294967295")

    def steps_on(self, examples: int) -> int:
        """Return the number of optimiser steps for a number of pairs."""
        batches = math.ceil(examples / self.batch_size)
        return self.steps or math.ceil(batches * self.epochs)


def _check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ScoringError(
            f'unknown {what} "{value}"{did_you_mean(value, known)}; choose one of '
            f"{', '.join(known)}"
        )
