"""The losses, computed from logits alone: a model's own loss may count pads.

    mle           L = - mean log P(w_t)                over the scored tokens of the better ones
    unlikelihood  L = mle - alpha mean log(1 - P(w_t))  over the negative tokens of the worse ones
    margin        L = mle + alpha mean max(0, m - (LL(high) - LL(low)))   over the pairs

Unlikelihood is that of Welleck et al. (2020, "Neural Text Generation with Unlikelihood Training"),
on whole negatives as in CLIFF (Cao and Wang 2021); 1 - P is at least 1e-5. Alone, it teaches a
model with random weights little: if P is near 1/V, so is its gradient. Margin is the contrastive
loss of BRIO (Liu et al. 2022) for two candidates, without a penalty on length; LL is the mean over
tokens of log P (Laban et al. 2022, eq. 1), the very quantity that a test compares.

Means are over the tokens, or pairs, of a batch, and are kept as sums and counts.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy

from nnd.metric.train.objective import Objective

_SMALLEST = 1e-5


class Targets(NamedTuple):
    """The targets for the logits of a batch; each [rows, positions].

    The rows are the better candidates, then, unless a loss needs none, the worse ones in the same
    order.

    Attributes:
        ids: The tokens to predict; arbitrary at other positions.
        scored: Which of them count in the likelihood.
        negative: Which of them should become less likely.
    """

    ids: torch.Tensor
    scored: torch.Tensor
    negative: torch.Tensor


def terms(objective: Objective, logits: torch.Tensor, targets: Targets) -> dict[str, torch.Tensor]:
    """Return the values whose means are the terms of a loss: `mle`, and the objective's if any.

    Args:
        objective: The objective to minimise.
        logits: [rows, positions, vocabulary].
        targets: Targets for the same rows and positions.
    """
    log_p = _log_probabilities(logits, targets)
    if not objective.weight:
        return {"mle": -log_p[targets.scored]}
    better = torch.arange(len(log_p), device=log_p.device) < len(log_p) // 2
    mle = -log_p[better][targets.scored[better]]
    if objective.loss == "unlikelihood":
        left = (1 - log_p[targets.negative].exp()).clamp(min=_SMALLEST)
        return {"mle": mle, "unlikelihood": -left.log()}
    mean = (log_p * targets.scored).sum(dim=1) / targets.scored.sum(dim=1)
    lead = mean[better] - mean[~better]
    return {"mle": mle, "margin": (objective.margin - lead).clamp(min=0)}


def total(objective: Objective, values_of: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Return the loss that is the sum of some terms; the mean of no values is 0."""
    weighted = [
        values.sum() / max(values.numel(), 1) * (1.0 if name == "mle" else objective.weight)
        for name, values in values_of.items()
    ]
    return torch.stack(weighted).sum()


def _log_probabilities(logits: torch.Tensor, targets: Targets) -> torch.Tensor:
    """Return log P of each scored target, and 0 elsewhere, float32 or better [rows, positions]."""
    some = logits[targets.scored]
    some = some.to(torch.promote_types(some.dtype, torch.float32))
    log_p = some.new_zeros(targets.ids.shape)
    log_p[targets.scored] = -cross_entropy(some, targets.ids[targets.scored], reduction="none")
    return log_p
