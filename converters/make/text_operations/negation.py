"""Adding or removing an English negation, if fixed rules show that the result reads well.

"not" is added after an auxiliary verb (is, was, will, can, … ; has, have and had before a
participle) unless what follows would change the sentence otherwise: a question, "to", an adverb
such as "also", or a negative word. "not" and "n't" after an auxiliary are removed unless a word
such as "any" or "yet" depends on them.

Clauses whose negation would not contradict the context do not change: conditions and times ("if he
can", "when he was"), indirect questions ("how many were"), negative clauses ("nothing is") and
those about a part ("a third of them are": the others are not). Neither do "may" and "might", since
what may be may also not be.
"""

import re
from collections.abc import Iterator
from random import Random

from nnd.converters.make.text_operations.operation import RefusalError, Statement

_BE = "is|are|was|were|am"
_MODAL = "will|would|can|could|must|should|shall"
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
    r"(?!hundred|indeed|need|red)\w+ed|(?:beaten|become|been|begun|bitten|bought|broken|brought|built"
    r"|caught|chosen|come|cut|done|driven|eaten|fallen|forgotten|found|fought|given|gone|got|gotten"
    r"|had|heard|held|hidden|hit|hurt|kept|led|left|lost|made|met|paid|proven|put|read|risen|run|said"
    r"|seen|sent|set|shot|sold|spent|spoken|stolen|stood|sung|taken|taught|thought|told|understood"
    r"|won|worn|written)"
)

_NEGATIVE = (
    r"no(?! ?\d)|not|never|none|nothing|nobody|nowhere|neither|nor|hardly|barely|scarcely|without"
    r"|cannot|\w*n['’]t"  # noqa: RUF001
)

_STAYS_BEFORE = re.compile(
    rf"(?:to|also|already|still|just|only|even|now|both|either|all|always|often|perhaps|probably"
    rf"|possibly|potentially|certainly|reportedly|allegedly|apparently|indeed|otherwise|likely|rather"
    rf"|better|like|despite|because|during|so|too|quite|at|i|he|she|it|we|they|you|there|this|that"
    rf"|these|those|some|several|many|most|one|few|little|unable|{_NEGATIVE})"
)
"""Matches what follows an auxiliary after which "not" cannot be added."""

_STAYS_AFTER = re.compile(
    r"(?:\b(?:a|an|the|of|my|your|his|her|our|their|what|how|why|where|when|than|as"
    rf"|so|nor|neither|if|unless|whether|to|may|might|{_MODAL}|(?:than|as) \w+|{_NEGATIVE})"
    r"|^\W*who|^|[.!?;:,(\"“–-])\s*$",  # noqa: RUF001
    re.IGNORECASE,
)
"""Matches what precedes an auxiliary that begins a question or a condition, belongs to another one,
or is a noun."""

_STAYS_IN = re.compile(
    r"(?:\b(?:if|unless|whether|until|when|while|before|after|since|as long as|what|how"
    r"|some|several|many|half|(?:third|quarter)s? of|per ?cent|dozens|hundreds|thousands|millions"
    rf"|one in \w+|{_NEGATIVE})\b|%)[^,.;:!?]*$",
    re.IGNORECASE,
)
"""Matches the beginning of a clause whose negation would not contradict the context."""

_NEGATIVE_LATER = re.compile(rf"[^,.;:!?]*\b(?:{_NEGATIVE})\b", re.IGNORECASE)
"""Matches the rest of a clause that has a negation already."""

_LEANS = re.compile(
    r"\b(?:any\w*|ever|yet|either|at all|until|much|anymore|nor|but)\b", re.IGNORECASE
)
"""Matches what reads badly without the preceding "not"."""

_KEEPS = re.compile(r"only|just|merely|necessarily|help|even|to|least|quite")
"""Matches what follows a "not" that does not negate the sentence."""

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?\n]+|$)")


def negate(statement: Statement, random: Random) -> str:
    """Return a text with one negation added or removed."""
    text = statement.text
    edits = [
        text[:start] + new + text[end:]
        for sentence in _SENTENCE.finditer(text)
        if "?" not in sentence[0]
        for start, end, new in [*_omissions(sentence), *_insertions(sentence)]
    ]
    if not edits:
        raise RefusalError("no auxiliary that takes or loses a negation")
    return random.choice(edits)


def _omissions(sentence: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of negated auxiliaries, with the auxiliary alone as replacement."""
    for found, before in _unbound(sentence, _NEGATED):
        leans = _KEEPS.fullmatch(found["next"]) or _LEANS.search(found.string, found.end())
        if not (leans or _STAYS_AFTER.search(before)):
            verb = found["verb"] or found["one"] or _WHOLE[found["short"]]
            yield sentence.start() + found.start(), sentence.start() + found.end(), verb


def _insertions(sentence: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the places after auxiliaries, with "not" as insertion."""
    for found, before in _unbound(sentence, _AUXILIARY):
        follows = found["next"].lower()
        is_main = re.fullmatch(_HAVE, found["verb"]) and not _PARTICIPLE.fullmatch(follows)
        stays = _STAYS_BEFORE.fullmatch(follows) or _STAYS_AFTER.search(before)
        if not (is_main or stays or _NEGATIVE_LATER.match(found.string, found.end())):
            end = sentence.start() + found.end()
            yield end, end, " not"


def _unbound(
    sentence: re.Match[str], pattern: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the matches of a pattern outside such clauses, with the sentence before each."""
    for found in pattern.finditer(sentence[0]):
        before = sentence[0][: found.start()]
        if not _STAYS_IN.search(before):
            yield found, before
