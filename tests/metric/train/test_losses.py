"""The losses, against values computed by hand."""

import math

import pytest
import torch
from support.refusals import refusal
from torch.nn.functional import cross_entropy

from nnd.metric.train.losses import Targets, counts, sums, total
from nnd.metric.train.objective import Loss, Objective

PAD = -1.0
"""Stands for a position that is padded: its logits are noise."""

# P of each target: the better candidate 0.5 and 0.25, the worse one 0.2 and 0.4.
#   mle           (ln 2 + ln 4) / 2                   = 1.0397207708
#   unlikelihood  -(ln 0.8 + ln 0.6) / 2              = 0.3669845875
#   lead          (ln 0.5 + ln 0.25 - ln 0.2 - ln 0.4) / 2 = 0.2231435513
HIGH, LOW = [0.5, 0.25], [0.2, 0.4]
MLE, UNLIKELIHOOD, LEAD = 1.0397207708, 0.3669845875, 0.2231435513


def batch(
    *rows: list[float], negative: list[bool] | None = None, worse: int | None = None
) -> tuple[torch.Tensor, Targets]:
    """Return logits over five tokens that give target 3 these probabilities; PAD: not scored.

    The last `worse` rows are worse candidates, by default half of them.
    """
    worse = len(rows) // 2 if worse is None else worse
    generator = torch.Generator().manual_seed(0)
    scored = torch.tensor([[p != PAD for p in row] for row in rows])
    logits = torch.randn((*scored.shape, 5), generator=generator, dtype=torch.float64)
    for number, row in enumerate(rows):
        for at, p in enumerate(row):
            if p != PAD:
                logits[number, at] = math.log((1 - p) / 4) if p < 1 else -50.0
                logits[number, at, 3] = math.log(p)
    ids = torch.where(scored, 3, 0)
    chosen = scored.clone()
    chosen[: len(rows) - worse] = False
    if negative is not None:
        chosen[len(rows) - worse :] &= torch.tensor(negative)
    return logits.requires_grad_(), Targets(ids, scored, chosen, worse)


def loss_of(objective: Objective, logits: torch.Tensor, targets: Targets) -> torch.Tensor:
    return total(objective, sums(objective, logits, targets), counts(objective, targets))


def terms(
    objective: Objective, logits: torch.Tensor, targets: Targets
) -> dict[str, tuple[float, int]]:
    """Mean and count of each term."""
    n = counts(objective, targets)
    return {
        name: (value.item() / max(n[name], 1), n[name])
        for name, value in sums(objective, logits, targets).items()
    }


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        (Objective("unlikelihood"), MLE + 0.1 * UNLIKELIHOOD),
        (Objective("unlikelihood", alpha=2), MLE + 2 * UNLIKELIHOOD),
        (Objective("margin", margin=0.5), MLE + 0.5 - LEAD),
        (Objective("margin", margin=0.2), MLE),  # it leads by more
        (Objective("margin", alpha=0.5, margin=1), MLE + 0.5 * (1 - LEAD)),
    ],
)
def test_a_loss_is_that_computed_by_hand(objective: Objective, expected: float) -> None:
    assert loss_of(objective, *batch(HIGH, LOW)).item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("loss", ["unlikelihood", "margin"])
def test_an_alpha_of_0_is_plain_mle(loss: str) -> None:
    logits, targets = batch(HIGH, [0.7, PAD], worse=0)
    alone = Objective(loss, alpha=0)  # type: ignore[arg-type]
    # Both rows are better candidates then: no worse one is read.
    expected = cross_entropy(logits[targets.scored], targets.ids[targets.scored])
    assert [*terms(alone, logits, targets)] == ["mle"]
    assert loss_of(alone, logits, targets).item() == pytest.approx(expected.item(), abs=1e-6)
    assert loss_of(Objective("mle"), logits, targets).item() == pytest.approx(
        expected.item(), abs=1e-6
    )


@pytest.mark.parametrize("loss", ["unlikelihood", "margin"])
def test_a_reference_without_a_worse_text_counts_in_mle_alone(loss: Loss) -> None:
    objective = Objective(loss, margin=0.5)
    pair, both = (
        terms(objective, *batch(*rows, worse=1)) for rows in ((HIGH, LOW), (HIGH, [0.1, PAD], LOW))
    )
    assert both[loss] == pytest.approx(pair[loss], abs=1e-9)
    # -(ln 0.5 + ln 0.25 + ln 0.1) / 3
    assert both["mle"] == pytest.approx((1.4606755446, 3), abs=1e-6)
    alone = terms(objective, *batch(HIGH, worse=0))
    assert alone == {"mle": (pytest.approx(MLE, abs=1e-6), 2), loss: (0.0, 0)}


def test_means_are_over_tokens_not_over_candidates() -> None:
    # -(ln 0.5 + ln 0.25 + ln 0.1) / 3 and -(ln 0.8 + ln 0.6 + ln 0.1) / 3
    found = terms(Objective(), *batch(HIGH, [0.1, PAD], LOW, [0.9, PAD]))
    assert (found["mle"][1], found["unlikelihood"][1]) == (3, 3)
    assert found["mle"][0] == pytest.approx(1.4606755446, abs=1e-6)
    assert found["unlikelihood"][0] == pytest.approx(1.0121847560, abs=1e-6)


def test_the_margin_is_over_means_of_each_candidate() -> None:
    # Leads: 0.2231435513, and ln 0.1 - ln 0.9 = -2.1972245773.
    found = terms(Objective("margin", margin=0.5), *batch(HIGH, [0.1, PAD], LOW, [0.9, PAD]))
    expected = ((0.5 - LEAD) + (0.5 + 2.1972245773)) / 2
    assert found["margin"][0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("objective", [Objective(), Objective("margin", margin=0.5)])
def test_pads_change_nothing_and_get_no_gradient(objective: Objective) -> None:
    whole = loss_of(objective, *batch(HIGH, LOW))
    logits, targets = batch([*HIGH, PAD, PAD], [*LOW, PAD, PAD])
    padded = loss_of(objective, logits, targets)
    padded.backward()
    assert padded.item() == pytest.approx(whole.item(), abs=1e-9)
    assert logits.grad is not None
    assert logits.grad[:, 2:].abs().max() == 0
    assert logits.grad[:, :2].abs().min() > 0


def test_the_gradient_on_a_negative_token_has_the_opposite_sign() -> None:
    # d -log p / dz = p - 1 at the target, d -log(1 - p) / dz = p; each over two tokens.
    logits, targets = batch(HIGH, LOW)
    loss_of(Objective(alpha=1), logits, targets).backward()
    assert logits.grad is not None
    at_targets = logits.grad[:, :, 3].flatten().tolist()
    assert at_targets == pytest.approx([-0.25, -0.375, 0.1, 0.2], abs=1e-6)


def test_only_negative_tokens_count() -> None:
    found = terms(Objective(), *batch(HIGH, LOW, negative=[False, True]))
    assert found["unlikelihood"][0] == pytest.approx(-math.log(0.6), abs=1e-6)
    nothing = terms(Objective(), *batch(HIGH, LOW, negative=[False, False]))
    assert nothing["unlikelihood"] == (0, 0)


def test_what_is_left_of_certainty_is_clamped() -> None:
    found = terms(Objective(), *batch(HIGH, [1.0, 1.0]))
    assert found["unlikelihood"][0] == pytest.approx(-math.log(1e-5), abs=1e-6)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"loss": "unlikelyhood"}, "option.unknown-value"),
        ({"negative_tokens": "some"}, "option.unknown-value"),
        ({"alpha": -0.1}, "option.bad-value"),
        ({"alpha": math.nan}, "option.bad-value"),
        ({"alpha": math.inf}, "option.bad-value"),
        ({"loss": "mle", "alpha": 0.1}, "option.conflict"),
        ({"margin": 0.0}, "option.bad-value"),
    ],
)
def test_an_objective_that_cannot_be_is_refused(options: dict[str, object], code: str) -> None:
    with refusal(code):
        Objective(**options)  # type: ignore[arg-type]
