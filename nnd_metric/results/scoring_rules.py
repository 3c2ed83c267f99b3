"""Rules of scoring: which tokens are scored by which version of the metric.

Runs with the same rule can be compared. The versions differ only for decoder-only models under
`native`, `sum` and `bytes`; all other numbers are the same in every version.
"""

import re
from collections.abc import Mapping

from nnd.schemas import ScoringError

_RULES = {
    (0, 1): "a separator that is a token of its own is not scored",
    (0, 2): "every token after those of the context is scored",
}
"""First version of a rule → what decoder-only models score under it."""

# Only they have a separator, which comes before the last part.
_SEPARATED = re.compile(r"nnd\|v:(\d+)\.(\d+)\..*\|sep:.*\|bos:(?:yes|no)", re.DOTALL)


def scoring_rule(signature: str | None) -> str | None:
    """Return the rule of a run, or None if all versions score it alike."""
    made = _SEPARATED.fullmatch(signature or "")
    if made is None:
        return None
    since = max(rule for rule in _RULES if rule <= (int(made[1]), int(made[2])))
    return f"{since[0]}.{since[1]}: {_RULES[since]}"


def has_present_rule(signature: str) -> bool:
    """Whether a run was scored by the rule of this version."""
    rule = scoring_rule(signature)
    return rule is None or rule.endswith([*_RULES.values()][-1])


def check_rules(signatures: Mapping[str, str | None]) -> None:
    """Check that models were scored by the same rule.

    Args:
        signatures: Label of each model → its signature, or None if its run has none.

    Raises:
        ScoringError: If they were not.
    """
    models: dict[str, list[str]] = {}
    for label, signature in signatures.items():
        if (rule := scoring_rule(signature)) is not None:
            models.setdefault(rule, []).append(label)
    if len(models) > 1:
        described = "; ".join(
            f"{', '.join(labels)} by that of {rule}" for rule, labels in sorted(models.items())
        )
        raise ScoringError(
            f"the models were scored by different rules ({described}); evaluate the older ones "
            "again, or combine them with mixed_rules=True (--mixed-rules)"
        )
