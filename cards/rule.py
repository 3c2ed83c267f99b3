"""A quality rule in words, from its parameters."""

from collections.abc import Mapping
from typing import Any

from nnd.cards.markdown import code


def rule_in_words(quality: Mapping[str, Any]) -> str:
    """Return, as Markdown, which of two judged candidates a rule finds better.

    Args:
        quality: The section of source.yaml, valid under its schema.
    """
    match quality["rule"]:
        case "no_error":
            return (
                f"A candidate that is labelled {code(quality['no_error'])} is better than one with "
                "any other label. Two candidates that both have an error are not compared."
            )
        case "majority":
            return (
                "A candidate is good under an aspect where more than half of its annotators gave "
                f"it {quality['top']:g} or more. A good candidate is better than one that is not; "
                "two good ones, or two others, are not compared."
            )
        case "credit":
            high, low = (" or ".join(f"{v:g}" for v in quality[side]) for side in ("high", "low"))
            return (
                f"A candidate with a credit of {high} is better than one with a credit of {low}. "
                "Candidates with any other credit make no pair."
            )
        case "gap":
            return (
                f"A candidate is better than another where its score is at least "
                f"{quality['minimum']:g} higher under the same aspect; scores that are closer are "
                "not compared."
            )
    steps = "; ".join(f"{code(high)} is better than {code(low)}" for high, low in quality["better"])
    return (
        f"Labels are ordered: {steps}; and whatever follows from that. A candidate with several "
        "labels counts by its worst."
    )
