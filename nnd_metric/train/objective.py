"""The objective and the schedule of a training, and its LoRA adapters."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from nnd.schemas import (
    ALWAYS,
    SPARSE,
    Amount,
    Count,
    Limit,
    Natural,
    Positive,
    Record,
    ScoringError,
    check_known,
    stored_fields,
)

Loss = Literal["mle", "unlikelihood", "margin"]
NegativeTokens = Literal["all", "diff"]

_ALPHA: dict[Loss, float] = {"mle": 0.0, "unlikelihood": 0.1, "margin": 1.0}

_ADVICE = {
    "minimum": "{} or more",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
}


class _CheckedRecord(Record):
    """A record of options, which are checked: choices, limits, and numbers that are finite."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name, _, shape, _ in stored_fields(type(self)):
            value = getattr(self, name)
            if get_origin(shape.kind) is Literal:
                known = get_args(shape.kind)
                check_known(name, [value], known, code="option.unknown-value", family=ScoringError)
            for limit in shape.marks:
                if not isinstance(limit, Limit) or value is None:
                    continue
                if limit.refuses(value) or not math.isfinite(value):
                    advice = _ADVICE[limit.keyword].format(limit.argument)
                    raise ScoringError(
                        "option.bad-value", f"{name} is {value}", remedy=f"give {advice}"
                    )


@dataclass(frozen=True, slots=True)
class Objective(_CheckedRecord):
    """The objective: MLE on the better candidates, plus a second term times alpha (`losses`).

    Attributes:
        loss: What is added to MLE on the better candidates: unlikelihood makes tokens of the worse
            ones less likely, margin lets the better ones lead, and mle adds nothing.
        alpha: Weight of the second term of the loss, next to MLE. None means 0.1 for unlikelihood,
            1 for margin.
        negative_tokens: For unlikelihood: all tokens of a worse candidate, or diff: only those that
            the better one does not have at that place.
        margin: For margin: the required lead of the better candidate, in nats per token.
    """

    loss: Annotated[Loss, ALWAYS] = "unlikelihood"
    alpha: Annotated[Amount | None, ALWAYS, SPARSE] = None
    negative_tokens: Annotated[NegativeTokens, ALWAYS] = "all"
    margin: Annotated[Positive, ALWAYS] = 0.1

    def __post_init__(self) -> None:
        _CheckedRecord.__post_init__(self)
        if self.alpha and self.loss == "mle":  # 0 is what a stored recipe has
            raise ScoringError(
                "option.conflict",
                "alpha weighs a second term, but mle has none",
                remedy="leave alpha out",
            )

    @property
    def weight(self) -> float:
        """The weight of the second term; 0 means plain MLE, which never reads a worse candidate."""
        return _ALPHA[self.loss] if self.alpha is None else self.alpha

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values; alpha is never None."""
        return Record.to_dict(self) | {"alpha": self.weight}


@dataclass(frozen=True, slots=True)
class Schedule(_CheckedRecord):
    """The schedule of a training: AdamW, with a learning rate that falls linearly to 0.

    Attributes:
        epochs: Passes over the training pairs.
        steps: Optimiser steps, instead of epochs. None means as many as the epochs take.
        batch_size: Pairs that are in memory at once.
        accumulation: Batches per optimiser step. Their gradients add up to those of one large
            batch, so that 4 batches of 2 pairs train like one of 8.
        learning_rate: Learning rate of the first step; it falls to 0.
        seed: Seed of the order of the pairs, of dropout and of new adapters.
    """

    epochs: Annotated[Positive, ALWAYS] = 1.0
    steps: Annotated[Natural | None, ALWAYS] = None
    batch_size: Annotated[Natural, ALWAYS] = 8
    accumulation: Annotated[Natural, SPARSE] = 1
    learning_rate: Annotated[Positive, ALWAYS] = 5e-5
    seed: Annotated[Count, Limit("maximum", 2**32 - 1), ALWAYS] = 0

    def steps_on(self, examples: int) -> int:
        """Return the number of optimiser steps for a number of pairs."""
        in_an_epoch = math.ceil(examples / (self.batch_size * self.accumulation))
        return self.steps or math.ceil(in_an_epoch * self.epochs)


@dataclass(frozen=True, slots=True)
class Lora(_CheckedRecord):
    """Adapters of LoRA (Hu et al. 2021), which are trained in place of the model's own weights.

    Attributes:
        rank: Rank of LoRA adapters, which are trained in place of the model's own weights. None
            means all weights are trained.
        alpha: Scale of the adapters: their output counts alpha / rank times. None means twice the
            rank.
        dropout: Share of the adapters' inputs that is dropped while training.
        targets: Names of the layers that get adapters, such as q_proj; all-linear takes all linear
            ones. Empty means those that PEFT chooses for the architecture.
    """

    rank: Annotated[Natural | None, ALWAYS, SPARSE] = None
    alpha: Annotated[Positive | None, ALWAYS, SPARSE] = None
    dropout: Annotated[Amount, Limit("exclusiveMaximum", 1), ALWAYS] = 0.0
    targets: Annotated[tuple[str, ...], ALWAYS] = ()

    def __post_init__(self) -> None:
        _CheckedRecord.__post_init__(self)
        if self.rank is None and (self.alpha, self.dropout, *self.targets) != (None, 0.0):
            raise ScoringError(
                "option.needs-another", "LoRA needs a rank", remedy="add one, such as --lora-rank 8"
            )

    @property
    def scale(self) -> float:
        """PEFT's `lora_alpha`."""
        return 2.0 * (self.rank or 0) if self.alpha is None else self.alpha

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values; alpha is never None."""
        return Record.to_dict(self) | {"alpha": self.scale}
