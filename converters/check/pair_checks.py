"""`nnd check`: the checks of pairs, in order, and what they found."""

from collections.abc import Callable
from typing import TypeAlias

from nnd.converters.check.check_report import Check, CheckReport, Verdict
from nnd.converters.check.checked_data import CheckedData
from nnd.converters.check.context_checks import (
    check_contexts,
    check_duplicates,
    check_in_context,
    check_own_context,
)
from nnd.converters.check.direction import check_direction
from nnd.converters.check.judgement_checks import (
    check_aspects,
    check_scales,
    check_systems,
    check_verdicts,
)
from nnd.converters.check.shared_texts import check_shared_texts
from nnd.converters.check.text_checks import (
    check_form,
    check_giveaways,
    check_lengths,
    check_personal_data,
    check_rights,
    check_surface,
)

PairCheck: TypeAlias = Callable[[CheckedData], Verdict]

CHECKS: dict[str, PairCheck] = {
    "contexts": check_contexts,
    "own context": check_own_context,
    "in the context": check_in_context,
    "duplicates": check_duplicates,
    "shared texts": check_shared_texts,
    "systems": check_systems,
    "verdicts": check_verdicts,
    "aspects": check_aspects,
    "scales": check_scales,
    "direction": check_direction,
    "lengths": check_lengths,
    "giveaways": check_giveaways,
    "surface": check_surface,
    "form": check_form,
    "rights": check_rights,
    "personal data": check_personal_data,
}
"""Name → check of pairs, in the order of the report."""


def check_pairs(data: CheckedData) -> CheckReport:
    """Return what each check of pairs found; none fails: all need a person's judgement."""
    return CheckReport(
        data.name, tuple(Check(name, *check(data)) for name, check in CHECKS.items())
    )
