"""Exchanging the names of two speakers of a dialogue: SwapEnt of Tang et al. (2022), CONFIT.

Speakers are those whose names begin the turns of the context. A name is a whole word, and what
follows an apostrophe goes with the place, not with the name; pronouns stay as they are. A swap that
leaves the meaning as it is ("Ann and Bob sing", "Ann meets Bob") is not made.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

from nnd.converters.make.forms.protected import SPEAKER, splice
from nnd.converters.make.text_operations.operation import RefusalError, Statement

_SPEAKER = re.compile(SPEAKER, re.MULTILINE)

_TOGETHER = (
    r"(?:meet|met|meeting|meets|talk(?:s|ed|ing)? (?:to|with)|chat(?:s|ted|ting)? with"
    r"|speak(?:s|ing)? (?:to|with)|spoke (?:to|with)|dat(?:es|ed|ing)|marr(?:y|ies|ied|ying)"
    r"|(?:is|are|was|were) (?:friends|married|going|coming|staying|living|playing|having \w+) with"
    r"|(?:agree|argue)[sd]? with)"
)
"""Matches what two people do with each other, so that either may be named first."""

_BEFORE_TOGETHER = r"(?:(?:is|are|was|were|will|would|wants? to|has|have|had|is going to) )?"


def swap_speakers(statement: Statement, random: Random) -> str:
    """Return a text with the names of two speakers exchanged."""
    speakers = list(dict.fromkeys(found["name"] for found in _SPEAKER.finditer(statement.context)))
    if not speakers:
        raise RefusalError("no speaker tags in the context")
    pattern = re.compile(rf"(?<![\w-])({_alternatives(speakers)})(?![\w-])")
    named = list(dict.fromkeys(pattern.findall(statement.text)))
    if len(named) <= 1:
        raise RefusalError("fewer than two speakers named")
    same = _sorted_names(statement.text, speakers)
    edits = (_swaps(statement.text, pattern, *pair) for pair in combinations(named, 2))
    swapped = (splice(statement.text, edit) for edit in edits)
    texts = [text for text in swapped if _sorted_names(text, speakers) != same]
    if not texts:
        raise RefusalError("the swap keeps the meaning")
    return random.choice(texts)


def _alternatives(names: Sequence[str]) -> str:
    """Return a pattern of names, with longer names before their prefixes."""
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def _swaps(
    text: str, pattern: re.Pattern[str], one: str, other: str
) -> Iterator[tuple[int, int, str]]:
    """Yield the edits that exchange two names; a possessive without an s gets one where needed."""
    exchanged = {one: other, other: one}
    for found in pattern.finditer(text):
        name, end = found[1], found.end()
        new = exchanged.get(name, name)
        is_possessive = re.match(r"['’](?!\w)", text[end:]) and name.endswith("s")  # noqa: RUF001
        if is_possessive and not new.endswith("s"):
            new, end = f"{new}{text[end]}s", end + 1
        yield found.start(), end, new


def _sorted_names(text: str, speakers: Sequence[str]) -> str:
    """Return a text in which names that may change places are in alphabetical order."""
    name = rf"(?<![\w-])(?:{_alternatives(speakers)})(?![\w-])"
    listed = re.compile(rf"{name}(?:(?:, and |, or |, | and | or | & |/){name})+")
    together = re.compile(
        rf"{name} {_BEFORE_TOGETHER}{_TOGETHER}(?: up)?(?: with)? {name}(?!['’]s)"  # noqa: RUF001
    )
    for pattern in (listed, together):
        text = pattern.sub(lambda found: _in_order(found[0], name), text)
    return text


def _in_order(text: str, name: str) -> str:
    """Return a text with its names in alphabetical order at their places."""
    names = iter(sorted(re.findall(name, text)))
    return re.sub(name, lambda _: next(names), text)
