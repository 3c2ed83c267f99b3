"""Check of the direction of quality: do names, rules or references contradict which text is better?

Words in names say what is good: those of people and winners, and of errors.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from nnd.converters.check.check_report import Verdict, judged
from nnd.converters.check.checked_data import CheckedData
from nnd.schemas import CONTEXT

PEOPLE = {
    *("expert", "gold", "golden", "human", "humans", "original"),
    *("ref", "reference", "references", "truth"),
}
"""Words in names of texts and systems of people, which should not be the worst."""

BAD = {
    *("adversarial", "altered", "bad", "corrupted", "edited", "error", "hallucinated"),
    *("incorrect", "loser", "losing", "pert", "perturbed", "rejected", "unfaithful"),
    *("worse", "worst", "wrong"),
}
"""Words in names of worse texts, and in labels that name an error."""

_NO = {"free", "no", "non", "not", "without"}
_NOTHING_WRONG = {
    *("accurate", "better", "consistent", "correct", "factual", "faithful", "fine", "good"),
    *("no", "no error", "no errors", "no issue", "no issues", "noe", "ok", "supported"),
}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_SAMPLE = 2_000
_GRAM = 4
_STANDARD_ERRORS = 3.0


def check_direction(data: CheckedData) -> Verdict:
    """Check that what is called human, reference, best or no error does not come out worse."""
    found = [*_reversed_rules(data), *_misnamed(data), *_worst_people(data)]
    found += _unlike_references(data)
    remedy = "look at some pairs; if they are the wrong way round, reverse `quality` or the columns"
    fine = "neither names nor references say that the worse texts are the better ones"
    return judged("review", found, remedy, fine, most=3)


def _reversed_rules(data: CheckedData) -> Iterator[str]:
    """Yield rules whose numbers say that less is better."""
    rules: Mapping[str, Any] = data.facts.get("quality", {})
    ratings: list[float] = data.candidates["ratings"].explode().drop_nulls().to_list()
    middle = (min(ratings) + max(ratings)) / 2 if ratings else None
    for aspect, rule in {"": rules, **rules.get("aspects", {})}.items():
        name = f"{aspect}: " if aspect else ""
        if rule.get("rule") == "credit" and min(rule["high"]) < max(rule.get("low", rule["high"])):
            yield f"{name}a credit of {min(rule['high']):g} is high and {max(rule['low']):g} is low"
        if rule.get("rule") == "majority" and middle is not None and rule["top"] < middle:
            scale = f"{min(ratings):g} to {max(ratings):g}"
            yield f"{name}the top rating {rule['top']:g} is low, of {scale}"


def _misnamed(data: CheckedData) -> Iterator[str]:
    """Yield labels of better texts that name an error, and labels of worse ones that name none."""
    aspects = {*data.tests["aspect"]}
    for label in data.tests["label_high"].drop_nulls().unique().sort():
        words = {*words_of(label)}
        if words & BAD and not words & _NO:
            yield f'candidates labelled "{label}" are the better ones'
    for label in data.tests["error_category"].drop_nulls().unique().sort():
        if " ".join(words_of(label)) in _NOTHING_WRONG and label not in aspects:
            yield f'candidates labelled "{label}" are the worse ones'


def _worst_people(data: CheckedData) -> Iterator[str]:
    """Yield a system that is called human or reference, and loses most of all."""
    wins = win_shares(data.tests)
    worst = min(wins, key=wins.__getitem__, default="")
    if len(wins) > 1 and PEOPLE & {*words_of(worst)}:
        yield f"{worst} ranks worst of {len(wins)} systems"


def win_shares(tests: pl.DataFrame) -> dict[str, float]:
    """Return system → the share of its tests in which its candidate is the better one."""
    sides = [
        tests.select(pl.col(f"system_{side}").str.split("|").alias("system"), won=pl.lit(won))
        for side, won in (("high", 1.0), ("low", 0.0))
    ]
    shares = pl.concat(sides).explode("system").drop_nulls().group_by("system").mean()
    return dict(shares.sort("system").rows())


def _unlike_references(data: CheckedData) -> Iterator[str]:
    """Yield that worse texts are more like the references than better ones, if they clearly are."""
    references = data.all_references.group_by(CONTEXT).agg("reference")
    sides = [*CONTEXT, "candidate_high", "candidate_low"]
    tests = data.tests.unique(sides, maintain_order=True)
    tests = tests.join(references, on=CONTEXT, how="inner", nulls_equal=True)
    tests = tests.sample(min(_SAMPLE, tests.height), seed=0)
    signs = [
        _likeness(high, texts) - _likeness(low, texts)
        for high, low, texts in tests.select(*sides[2:], "reference").iter_rows()
    ]
    better, worse = sum(sign > 0 for sign in signs), sum(sign < 0 for sign in signs)
    if worse - better >= _STANDARD_ERRORS * math.sqrt(max(worse + better, 1)):
        yield f"the worse text is more like the reference in {worse:,} of {worse + better:,} tests"


def _likeness(text: str, references: list[str]) -> float:
    """Return the largest F-score of the sets of groups of characters of a text and a reference."""
    own = _grams(text)
    return max(
        2 * len(own & other) / (len(own) + len(other) or 1) for other in map(_grams, references)
    )


def _grams(text: str) -> set[str]:
    return {text[at : at + _GRAM] for at in range(max(1, len(text) - _GRAM + 1))}


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case: `docId_2` has doc, id and 2."""
    return [word.lower() for word in _WORD.findall(name)]
