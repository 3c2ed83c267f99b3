"""Descriptions of quality rules in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from nnd.cards.markdown import code
from nnd.schemas import rule_of

_ENOUGH = {
    "mean": "the mean of the differences is",
    "median": "the median of the differences is",
    "majority": "more than half of the differences are",
    "unanimity": "all differences are",
}


def rules_in_words(quality: Mapping[str, Any], aspects: Sequence[str]) -> str:
    """Return Markdown that says which of two judged candidates is better under each aspect."""
    by_rule: dict[str, list[str]] = {}
    for aspect in aspects:
        by_rule.setdefault(_in_words(rule_of(quality, aspect)), []).append(code(aspect))
    if len(by_rule) == 1:
        return next(iter(by_rule))
    rules = "\n".join(f"- {', '.join(names)}: {words}" for words, names in by_rule.items())
    return f"{rules}\n\nWhere a rule reads no label, the `error_category` of a pair is its aspect."


def _in_words(rule: Mapping[str, Any]) -> str:
    match rule["rule"]:
        case "no_error":
            return (
                f"A candidate that is labelled {code(rule['no_error'])} is better than one with "
                "any other label. Two candidates that both have an error are not compared."
            )
        case "majority" if rule.get("ratings") == "unanimity":
            words = (
                f"A candidate to which all annotators gave {rule['top']:g} or more under an aspect "
                "is better than one to which all gave less. Candidates whose annotators disagree "
                "are not compared."
            )
        case "majority":
            words = (
                "A candidate is good under an aspect where more than half of its annotators gave "
                f"it {rule['top']:g} or more. A good candidate is better than one that is not; two "
                "good ones, or two others, are not compared."
            )
        case "credit":
            high, low = (" or ".join(f"{v:g}" for v in rule[side]) for side in ("high", "low"))
            what = f"{rule['ratings']} rating" if "ratings" in rule else "credit"
            words = (
                f"A candidate with a {what} of {high} is better than one with a {what} of {low}. "
                f"Candidates with any other {what} make no pair."
            )
        case "gap":
            words = _gap(rule)
        case _:
            better = (f"{code(high)} is better than {code(low)}" for high, low in rule["better"])
            return (
                f"Labels are ordered: {'; '.join(better)}; the order is transitive. A candidate "
                "with several labels is compared by its worst one."
            )
    return words + _conditions(rule)


def _gap(rule: Mapping[str, Any]) -> str:
    minimum = f"{rule['minimum']:g}"
    if "within" in rule:
        return (
            "Two candidates are compared under the same aspect by the annotators who rated both, "
            f"each by the difference between their two ratings. A candidate is better where "
            f"{_ENOUGH[rule['ratings']]} at least {minimum} in its favour."
        )
    what = f"{rule['ratings']} rating" if "ratings" in rule else "score"
    return (
        f"A candidate is better than another where its {what} is at least {minimum} higher under "
        f"the same aspect; {what}s that are closer are not compared."
    )


def _conditions(rule: Mapping[str, Any]) -> str:
    words = ""
    if "at_least" in rule:
        whom = "annotators who rated both" if "within" in rule else "ratings"
        words += f" There must be at least {rule['at_least']} {whom}."
    if "standardise" in rule:
        words += (
            " Ratings count as z-scores: an annotator's rating minus the mean of that annotator's "
            "ratings under the aspect, divided by their standard deviation."
        )
    return words
