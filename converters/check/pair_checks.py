"""`nnd check`: the checks of pairs, in order, and what they found."""

from collections.abc import Callable
from typing import TypeAlias

from nnd.converters.check import (
    context_checks as contexts,
    direction,
    judgement_checks as judgements,
    text_checks as texts,
)
from nnd.converters.check.check_report import Check, CheckReport, Verdict
from nnd.converters.check.checked_data import CheckedData

PairCheck: TypeAlias = Callable[[CheckedData], Verdict]

CHECKS: dict[str, PairCheck] = {
    "contexts": contexts.check_contexts,
    "own context": contexts.check_own_context,
    "in the context": contexts.check_in_context,
    "duplicates": contexts.check_duplicates,
    "systems": judgements.check_systems,
    "verdicts": judgements.check_verdicts,
    "aspects": judgements.check_aspects,
    "scales": judgements.check_scales,
    "direction": direction.check_direction,
    "lengths": texts.check_lengths,
    "giveaways": texts.check_giveaways,
    "surface": texts.check_surface,
    "form": texts.check_form,
    "rights": texts.check_rights,
    "personal data": texts.check_personal_data,
}
"""Name → check of pairs, in the order of the report."""


def check_pairs(data: CheckedData) -> CheckReport:
    """Return what each check of pairs found; none fails: all need a person's judgement."""
    return CheckReport(
        data.name, tuple(Check(name, *check(data)) for name, check in CHECKS.items())
    )
