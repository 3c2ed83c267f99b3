"""The losses, computed from logits alone: a model's own loss may count pads.

    mle           L = - mean log P(w_t)                over the scored tokens of the better ones
    unlikelihood  L = mle - alpha mean log(1 - P(w_t))  over the negative tokens of the worse ones
    margin        L = mle + alpha mean max(0, m - (LL(high) - LL(low)))   over the pairs

Unlikelihood is that of Welleck et al. (2020, "Neural Text Generation with Unlikelihood Training"),
on whole negatives as in CLIFF (Cao and Wang 2021); 1 - P is at least 1e-5. Alone, it teaches a
model with random weights little: if P is near 1/V, so is its gradient. Margin is the contrastive
loss of BRIO (Liu et al. 2022) for two candidates, without a penalty on length; LL is the mean over
tokens of log P (Laban et al. 2022, eq. 1), the very quantity that a test compares.

References without a worse text count in mle alone. Means are over the tokens, or pairs, of an
optimiser step: the sums of its batches, divided by the counts of all of them.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy

from nnd.metric.train.objective import Objective

_SMALLEST = 1e-5


class Targets(NamedTuple):
    """The targets for the logits of a batch; each [rows, positions].

    The rows are the better candidates, then the worse ones in the same order: those of the first
    pairs. The last better ones may be references without a worse text.

    Attributes:
        ids: The tokens to predict; arbitrary at other positions.
        scored: Which of them count in the likelihood.
        negative: Which of them should become less likely.
        worse: The number of rows that are worse candidates.
    """

    ids: torch.Tensor
    scored: torch.Tensor
    negative: torch.Tensor
    worse: int


def sums(objective: Objective, logits: torch.Tensor, targets: Targets) -> dict[str, torch.Tensor]:
    """Return name of a term of the loss → its sum over tokens or pairs, whose mean is the term.

    The terms are `mle`, and the objective's unless its weight is 0. `logits` are [rows, positions,
    vocabulary], for the rows and positions of `targets`.
    """
    log_p = _log_probabilities(logits, targets)
    better = len(targets.ids) - targets.worse
    found = {"mle": -log_p[:better][targets.scored[:better]].sum()}
    if objective.weight and objective.loss == "unlikelihood":
        left = (1 - log_p[targets.negative].exp()).clamp(min=_SMALLEST)
        found["unlikelihood"] = -left.log().sum()
    elif objective.weight:
        mean = (log_p * targets.scored).sum(dim=1) / targets.scored.sum(dim=1)
        lead = mean[: targets.worse] - mean[better:]
        found["margin"] = (objective.margin - lead).clamp(min=0).sum()
    return found


def counts(objective: Objective, targets: Targets) -> Counter[str]:
    """Return the number of tokens or pairs that each term is a mean over."""
    better = len(targets.ids) - targets.worse
    found = Counter(mle=int(targets.scored[:better].sum()))
    if objective.weight and objective.loss == "unlikelihood":
        found["unlikelihood"] = int(targets.negative.sum())
    elif objective.weight:
        found["margin"] = targets.worse
    return found


def total(
    objective: Objective, found: Mapping[str, torch.Tensor], n: Mapping[str, int]
) -> torch.Tensor:
    """Return the loss from the sums of some pairs and the counts of all pairs of the step.

    The losses of the batches of an optimiser step add up to that of the step.
    """
    weighted = [
        value / max(n[name], 1) * (1.0 if name == "mle" else objective.weight)
        for name, value in found.items()
    ]
    return torch.stack(weighted).sum()


def _log_probabilities(logits: torch.Tensor, targets: Targets) -> torch.Tensor:
    """Return log P of each scored target, and 0 elsewhere, float32 or better [rows, positions]."""
    some = logits[targets.scored]
    some = some.to(torch.promote_types(some.dtype, torch.float32))
    found = some.new_zeros(targets.ids.shape)
    found[targets.scored] = -cross_entropy(some, targets.ids[targets.scored], reduction="none")
    return found
