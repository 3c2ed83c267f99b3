"""A negation put in or taken out, in English, where a closed rule can tell that it reads well.

"not" goes behind an auxiliary verb (is, was, will, can, … ; has, have and had before a participle)
unless what follows would make it another sentence: a question, "to", an adverb such as "also", a
word that is negative itself. "not" and "n't" behind an auxiliary are left out unless a word such as
"any" or "yet" leans on them. Clauses of condition and time ("if he can", "when he was") stay.
"""

import re
from collections.abc import Iterator
from random import Random

from nnd.converters.derive.operations.falsification import Refusal, Statement

_BE = "is|are|was|were|am"
_MODAL = "will|would|can|could|may|might|must|should|shall"
_HAVE = "has|have|had"
_DO = "do|does|did"

_AUXILIARY = re.compile(
    rf"(?<![\w'’-])(?P<verb>{_BE}|{_MODAL}|{_HAVE})(?= (?P<next>[\w'’-]+))"  # noqa: RUF001
)

_NEGATED = re.compile(
    rf"(?<![\w'’-])(?:(?P<verb>{_BE}|{_MODAL}|{_HAVE}|{_DO})(?: not| ?n['’]t)"  # noqa: RUF001
    r"|(?P<short>ca|wo) ?n['’]t|(?P<one>can)not)"  # noqa: RUF001
    r"(?= (?P<next>[\w'’-]+))"  # noqa: RUF001
)

_WHOLE = {"ca": "can", "wo": "will"}

_PARTICIPLE = re.compile(
    r"\w+(?:ed|en)|(?:become|begun|bought|brought|built|caught|come|cut|done|found|fought|gone|got"
    r"|had|heard|held|hit|hurt|kept|led|left|lost|made|met|paid|put|read|run|said|seen|sent|set"
    r"|shot|sold|spent|stood|sung|taught|thought|told|understood|won|worn)"
)

_NEGATIVE = (
    r"no|not|never|none|nothing|nobody|nowhere|neither|nor|hardly|barely|scarcely|few|little|unable"
    r"|without|cannot|\w+n['’]t"  # noqa: RUF001
)

_STAYS_BEFORE = re.compile(
    rf"(?:to|also|already|still|just|only|even|now|both|either|all|always|often|perhaps|probably"
    rf"|possibly|certainly|likely|rather|better|like|despite|because|so|too|quite|at|i|he|she|it|we|they|you|there"
    rf"|this|that|these|those|some|several|many|most|one|{_NEGATIVE})"
)
"""What follows an auxiliary that takes no "not"."""

_INVERTED = re.compile(
    r"(?:\b(?:a|an|the|of|my|your|his|her|our|their|what|how|why|where|when|than|as"
    r"|so|nor|neither|if|unless|whether)|^|[.!?;:,(\"“–-])\s*$",  # noqa: RUF001
    re.IGNORECASE,
)
"""What is before an auxiliary that begins a question or a condition, or is a noun."""

_SUBORDINATE = re.compile(
    r"\b(?:if|unless|whether|until|when|while|before|after|as long as)\b[^,.;:!?]*$", re.IGNORECASE
)
"""A clause that says under what condition, or when: negated, it seldom contradicts the context."""

_LEANS = re.compile(
    r"\b(?:any\w*|ever|yet|either|at all|until|much|anymore|nor|but)\b", re.IGNORECASE
)
"""What reads badly once the "not" before it is gone."""

_KEEPS = re.compile(r"only|just|merely|necessarily|help|even|to|least|quite")
"""What follows a "not" that does not make the sentence negative."""

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?\n]+|$)")


def negate(statement: Statement, random: Random) -> str | Refusal:
    """Return a text with one negation more or one less, or why there is none."""
    text = statement.text
    edits = [
        text[:start] + new + text[end:]
        for sentence in _SENTENCE.finditer(text)
        if "?" not in sentence[0]
        for start, end, new in [*_omissions(sentence), *_insertions(sentence)]
    ]
    return random.choice(edits) if edits else Refusal("no auxiliary that takes or loses a negation")


def _omissions(sentence: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield places of negated auxiliaries in the text, and the auxiliary alone."""
    for found, before in _unbound(sentence, _NEGATED):
        rest = found.string[found.end() :]
        if not (_KEEPS.fullmatch(found["next"]) or _LEANS.search(rest) or _is_inverted(before)):
            verb = found["verb"] or found["one"] or _WHOLE[found["short"]]
            yield sentence.start() + found.start(), sentence.start() + found.end(), verb


def _insertions(sentence: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield places behind auxiliaries in the text, and "not"."""
    for found, before in _unbound(sentence, _AUXILIARY):
        follows = found["next"].lower()
        is_main = re.fullmatch(_HAVE, found["verb"]) and not _PARTICIPLE.fullmatch(follows)
        if not (is_main or _STAYS_BEFORE.fullmatch(follows) or _is_inverted(before)):
            end = sentence.start() + found.end()
            yield end, end, " not"


def _unbound(
    sentence: re.Match[str], pattern: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield what a pattern finds outside such clauses, and the part of the sentence before it."""
    for found in pattern.finditer(sentence[0]):
        before = sentence[0][: found.start()]
        if not _SUBORDINATE.search(before):
            yield found, before


def _is_inverted(before: str) -> bool:
    return bool(_INVERTED.search(before))
