"""What is said about how the models of an agreement were scored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nnd.metric.numbers.agreement.agreement import Agreement
from nnd.metric.numbers.manners.manner import (
    Manner,
    describe_mixture,
    describe_others,
    name_protocols,
)
from nnd.metric.numbers.statistics.correlations import STATISTICS
from nnd.metric.numbers.statistics.extrapolation import Extrapolation


def with_manners(
    agreement: Agreement, manners: Mapping[str, Manner], notes: Sequence[str] = ()
) -> Agreement:
    """Return an agreement that says how its models were scored.

    Across several protocols, nothing is correlated, and each model is named with its protocol.

    Args:
        agreement: The agreement.
        manners: Model → how it was scored.
        notes: Further sentences.
    """
    unlike = describe_others(manners)
    agreement = replace(agreement, notes=(*notes, *([unlike] if unlike else [])))
    mixture = describe_mixture(manners.values())
    if mixture is None:
        return agreement
    names, nothing = name_protocols(manners), dict.fromkeys(STATISTICS)
    kinds = ("statistics", "intervals", "intervals_over_systems", "p_values")
    undefined: dict[str, Any] = {**dict.fromkeys(kinds, nothing), "permutations": None}
    by_category = {
        category: replace(
            each,
            **undefined,
            judged={names.get(model, model): judged for model, judged in each.judged.items()},
            extrapolation=Extrapolation(each.n, None, mixture, ()),
        )
        for category, each in agreement.by_category.items()
    }
    mean = replace(agreement.mean, **undefined, categories=dict.fromkeys(STATISTICS, 0))
    return replace(
        agreement,
        by_category=by_category,
        mean=mean,
        systems={names.get(model, model): system for model, system in agreement.systems.items()},
        unmatched=[names.get(model, model) for model in agreement.unmatched],
        unscored=agreement.unscored
        and {names.get(model, model): n for model, n in agreement.unscored.items()},
        mixture=mixture,
        notes=(mixture, *agreement.notes),
    )
