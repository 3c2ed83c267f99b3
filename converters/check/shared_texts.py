"""Check that contexts which share most of their text are declared to share it.

Texts are compared by sentences, so that the time is that of reading them once. A sentence that is
in more than half of the contexts belongs to an instruction.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from nnd.converters.check.check_report import Verdict, judged
from nnd.converters.check.checked_data import CheckedData
from nnd.schemas import counted, excerpt

_SENTENCE = re.compile(r"(?<=[.?!])\s+|\n+|(?<=[\u3002\uff1f\uff01])")
_LONG = 25
"""Fewest bytes of a sentence that is not repeated by chance."""

_MOST = 0.5
"""Share of a text, in characters, and of the contexts."""

_FEW = 0.01


def check_shared_texts(data: CheckedData) -> Verdict:
    """Check that no contexts share half of their texts or more, unless `cluster` says what."""
    declared = data.facts.get("cluster")
    if declared is not None or data.tests["cluster"].null_count() < data.tests.height:
        return "pass", f"contexts may share {_with_article(declared or 'cluster')}", ""
    texts = data.contexts["context"].fill_null("").to_list()
    alike = contexts_alike(texts)
    n = sum(map(len, alike))
    found = list[str]()
    if alike:
        found.append(
            f"{n:,} of {counted(len(texts), 'context')} share half of their text or more with "
            f"another one, in {counted(len(alike), 'group')}, such as "
            f'"{excerpt(texts[max(alike, key=len)[0]], 40)}"'
        )
    remedy = (
        "name the input part or the fact that they share by `cluster` in source.yaml (of a table "
        "of your own, its column with --cluster): intervals take contexts for independent"
    )
    return judged("review", found, remedy, f"{counted(len(texts), 'context')}, few share a text")


def contexts_alike(texts: Sequence[str]) -> list[list[int]]:
    """Return the numbers of texts that share most of one of them, by group; none if few do."""
    alike = [group for group in _groups(texts) if len(group) > 1]
    return alike if sum(map(len, alike)) > _FEW * len(texts) else []


def _groups(texts: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the texts, those together that share most of one of them."""
    sentences = [
        dict.fromkeys(
            each.strip() for each in _SENTENCE.split(text) if len(each.strip().encode()) >= _LONG
        )
        for text in texts
    ]
    holders: dict[str, list[int]] = defaultdict(list)
    for number, own in enumerate(sentences):
        for sentence in own:
            holders[sentence].append(number)
    shared = {
        sentence: numbers
        for sentence, numbers in holders.items()
        if 1 < len(numbers) <= max(2, _MOST * len(texts))
    }
    first = list(range(len(texts)))
    for number, (text, own) in enumerate(zip(texts, sentences, strict=True)):
        both = [sentence for sentence in own if sentence in shared]
        if sum(map(len, both)) >= _MOST * len(text) > 0:
            _join(first, number, both, shared)
    found: dict[int, list[int]] = defaultdict(list)
    for number in range(len(texts)):
        found[_root(first, number)].append(number)
    return list(found.values())


def _join(
    first: list[int], number: int, sentences: Sequence[str], shared: Mapping[str, Sequence[int]]
) -> None:
    """Join a text with the first other one that has its longest shared sentence."""
    longest = max(sentences, key=len)
    other = next(each for each in shared[longest] if each != number)
    one, two = sorted((_root(first, number), _root(first, other)))
    first[two] = one


def _root(first: list[int], number: int) -> int:
    while first[number] != number:
        first[number] = first[first[number]]
        number = first[number]
    return number


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
