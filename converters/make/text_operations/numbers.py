"""Replacing numbers, consistently in a context and all its candidates.

A number up to 10,000 becomes another from 0 to below the next power of ten, as in GEM: 7 one below
10, 54 one below 100, 100 one below 1,000. Decimals, thousands commas and number words keep their
form. Two numbers never become the same one, so that a candidate with a wrong number stays wrong.

Dates, years, ranges, ordinals, numbers joined to letters or signs, numbers before words like
million, and numbers in keys of data stay as they are, and with them every other mention of their
value: half of a number's mentions replaced would make a right candidate wrong.

A negative is a candidate alone with other numbers (`falsify_numbers`).
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from random import Random
from typing import NamedTuple, TypeAlias

from nnd.converters.make.forms.parsing import form_of
from nnd.converters.make.text_operations.articles import with_article
from nnd.converters.make.text_operations.operation import RefusalError, Statement, written

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MONTHS = (
    "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    "|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
)
_SPELLED = "|".join(each for word in _WORDS for each in (word, word.capitalize(), word.upper()))
_TOKEN = re.compile(rf"[0-9]+(?:[.,][0-9]+)*|(?:{_SPELLED})\b")
"""Matches a number, or the end of a word that looks like one, as in "someone"."""
_FORM = re.compile(
    r"(?P<whole>0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)(?:\.(?P<decimals>[0-9]+))?"
)
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_LEFT = re.compile(r"""(?:^|[\s("'“‘\[$€£¥])$""")  # noqa: RUF001 - quotation marks
_RIGHT = re.compile(r"""%?[.,;:!?)"'”’\]]*(?:\s|$)""")  # noqa: RUF001
_SIGN = r"(?:[#$€£¥]\s?)?"
_RANGE = r"(?:to|or|-|–)"  # noqa: RUF001
_FIXED_LEFT = re.compile(
    rf"(?:\b(?:{_MONTHS})\.?|(?:[0-9]|\b(?:{'|'.join(_WORDS)})) {_RANGE}"
    rf"|\bbetween(?: {_SIGN}\S+ and)?)\s{_SIGN}$",
    re.IGNORECASE,
)
_FIXED_RIGHT = re.compile(
    rf"\s(?:(?:{_MONTHS})\b|{_RANGE} {_SIGN}(?:[0-9]|(?:{'|'.join(_WORDS)})\b)"
    r"|(?:hundred|thousand|million|billion|trillion|dozen)s?\b|another\b)",
    re.IGNORECASE,
)
_BEFORE_PRONOUN = re.compile(
    r"\b(?:no|any|every|some|each|this|that|which|the|another)\s$", re.IGNORECASE
)
"""Matches words before a `one` that is not a count."""

_LOOK_BEHIND = 32
_TRIES = 1000

Value: TypeAlias = tuple[str, str]
"""Matches the digits before the point, and those after it without final zeros."""


_BOUND = re.compile(
    r"\b(?:(?:more|less|fewer|older|younger) than|at least|at most|up to|within|as (?:many|much) as"
    rf"|(?:over|under|above|below)(?: the age of)?|before the age of)\s{_SIGN}$",
    re.IGNORECASE,
)

_CLOCK = re.compile(r"\s?(?:[ap]m\b|[ap]\.m\.|o['’]clock)", re.IGNORECASE)  # noqa: RUF001
_MOST = 10_000
_WORD_LIMIT = 10
"""A number that is also written as a word becomes one below this, for which there is a word."""

_SINGULAR = frozenset({("0", ""), ("1", "")})


class _Mention(NamedTuple):
    """A number in a text."""

    start: int
    end: int
    value: Value
    decimals: int
    may_change: bool
    is_word: bool = False


def replace_numbers(
    texts: Sequence[str], random: Random, *, untouched: Collection[Value] = ()
) -> Sequence[str]:
    """Return a context and its candidates with other numbers, replaced by one mapping for all.

    `untouched` numbers do not change, and no other number becomes one of them. Raises RefusalError
    if there are too many numbers for distinct replacements.
    """
    forms = [form_of(text) for text in texts]
    leaves = [leaf.text for form in forms for leaf in form.leaves]
    mentions = [list(_mentions(leaf)) for leaf in leaves]
    fixed = (_mentions(piece) for form in forms for piece in form.fixed())
    every = [*chain.from_iterable(mentions)]
    taken = {*untouched, *(each.value for each in every if not each.may_change)}
    taken.update(each.value for each in chain.from_iterable(fixed))
    mapping = _mapping([each for each in every if each.value not in taken], taken, random)
    replaced = (_replaced(*both, mapping) for both in zip(leaves, mentions, strict=True))
    return [written(form, islice(replaced, len(form.leaves))) for form in forms]


def _mapping(mentions: Sequence[_Mention], taken: set[Value], random: Random) -> dict[Value, Value]:
    """Return number → distinct other number, none of them taken."""
    decimals, limits = dict[Value, int](), dict[Value, int]()
    for each in mentions:
        decimals[each.value] = min(decimals.get(each.value, each.decimals), each.decimals)
        limit = _WORD_LIMIT if each.is_word else _limit(each.value)
        limits[each.value] = min(limits.get(each.value, limit), limit)
    mapping, used = dict[Value, Value](), {*taken}
    for value in sorted(limits, key=lambda value: limits[value]):  # the fewest choices first
        mapping[value] = _other(value, decimals[value], limits[value], used, random)
        used.add(mapping[value])
    return mapping


def falsify_numbers(statement: Statement, random: Random) -> str:
    """Return a text with numbers that its context does not have.

    Zero and one stay, and no number becomes one of them, because of singular nouns. Bounds stay
    too, since someone over 30 is also over 20, and so do times of day that would become invalid.
    """
    leaves = [leaf.text for leaf in form_of(statement.text).leaves]
    mentions = [(leaf, each) for leaf in leaves for each in _mentions(leaf)]
    if not mentions:
        raise RefusalError("no number")
    untouched = {
        each.value
        for leaf, each in mentions
        if _BOUND.search(leaf[max(0, each.start - _LOOK_BEHIND) : each.start])
        or (_CLOCK.match(leaf, each.end) and (each.decimals or len(each.value[0]) > 1))
    }
    (wrong,) = replace_numbers([statement.text], random, untouched=untouched | _SINGULAR)
    if wrong == statement.text:
        raise RefusalError("no number that can change")
    return wrong


def _mentions(text: str) -> Iterator[_Mention]:
    for found in _TOKEN.finditer(text):
        token, (start, end) = found.group(), found.span()
        form = _FORM.fullmatch(token)
        if token.isalpha() and text[start - 1 : start].isalnum():  # "someone"
            continue
        if token.isalpha():
            value, decimals = (str(_WORDS.index(token.lower())), ""), ""
        elif form is None:  # each group of digits may be the same number in another notation
            yield from (
                _Mention(start, end, (group.lstrip("0") or "0", ""), 0, may_change=False)
                for group in re.split("[.,]", token)
            )
            continue
        else:
            decimals = form["decimals"] or ""
            value = (form["whole"].replace(",", ""), decimals.rstrip("0"))
        may_change = (
            _limit(value) > 0 and not _YEAR.fullmatch(token) and _is_alone(text, start, end)
        )
        yield _Mention(start, end, value, len(decimals), may_change, token.isalpha())


def _is_alone(text: str, start: int, end: int) -> bool:
    """Say whether a number is not part of a date, a range, a name or a larger number."""
    before = text[max(0, start - _LOOK_BEHIND) : start]
    return bool(
        _LEFT.search(before)
        and _RIGHT.match(text, end)
        and not _FIXED_LEFT.search(before)
        and not _FIXED_RIGHT.match(text, end)
        and not (text[start:end].lower() == "one" and _BEFORE_PRONOUN.search(before))
    )


def _limit(value: Value) -> int:
    """Return the power of ten above a number; 0 if the number stays."""
    whole, decimals = value
    if len(whole) > len(str(_MOST)) or float(f"{whole}.{decimals}") > _MOST:
        return 0
    return int(10 ** len(whole))


def _other(value: Value, decimals: int, limit: int, taken: set[Value], random: Random) -> Value:
    """Return a new number below a limit, with some decimals at most, that is not used yet."""
    for _ in range(_TRIES):
        digits = f"{random.randint(0, limit * 10**decimals - 1):0{decimals + 1}}"
        at = len(digits) - decimals
        new = (digits[:at], digits[at:].rstrip("0"))
        if new != value and new not in taken:
            return new
    raise RefusalError("too many numbers for each to become another")


def _replaced(text: str, mentions: Sequence[_Mention], mapping: dict[Value, Value]) -> str:
    pieces, after = list[str](), 0
    for each in mentions:
        if each.may_change and each.value in mapping:
            number = _written(mapping[each.value], text[each.start : each.end], each)
            pieces += [with_article(text[after : each.start], number), number]
            after = each.end
    return "".join([*pieces, text[after:]])


def _written(value: Value, old: str, mention: _Mention) -> str:
    """Return a number in the form of the one it replaces."""
    whole, decimals = value
    if old.isalpha():
        word = _WORDS[int(whole)]
        return word.upper() if old.isupper() else word.capitalize() if old[0].isupper() else word
    whole = f"{int(whole):,}" if "," in old else whole
    return f"{whole}.{decimals:0<{mention.decimals}}" if mention.decimals else whole
