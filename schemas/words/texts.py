"""Texts in messages: excerpts, lists and counts; and a check for invalid texts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile

_LONGEST_EXCERPT = 60
_CLOSE = 0.65  # at 0.6, "predictions" is close to "revision"
_SURROGATE = re.compile("[\ud800-\udfff]")


def excerpt(text: str, longest: int = _LONGEST_EXCERPT) -> str:
    """Return a text, cut with dots if it is long."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names as a message lists them: the first ones, and the number of others."""
    more = f", and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def first_difference(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts, in characters."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def counted(n: int, noun: str) -> str:
    """Return a number with its noun: `counted(3, "pair")` is "3 pairs", and 0 gives "no pairs"."""
    return f"{f'{n:,}' if n else 'no'} {noun}s" if n != 1 else f"1 {noun}"


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Return names with their counts: "no number that can change (12), no spans (1)"."""
    return ", ".join(f"{what} ({n:,})" for what, n in counts.items())


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint for an error about an unknown name: the closest known one, or nothing.

    `did_you_mean("nativ", ["native", "sum"])` is ' (did you mean "native"?)'.
    """
    by_folded = {each.casefold(): each for each in known}
    folded = name.casefold()
    close = get_close_matches(folded, by_folded, 1, _CLOSE)
    close += [each for each in by_folded if folded and folded in each]
    return f' (did you mean "{by_folded[close[0]]}"?)' if close else ""


def has_surrogate(text: str) -> bool:
    """Say whether a text has half a surrogate pair, which UTF-8 cannot encode."""
    return _SURROGATE.search(text) is not None
