"""Rules of scoring: which tokens are scored by which version of the metric.

Runs with the same rule can be compared. The versions differ only for decoder-only models under
`native`, `sum` and `bytes`; all other numbers are the same in every version.
"""

import re

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
