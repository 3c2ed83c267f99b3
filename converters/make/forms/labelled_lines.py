"""Lines with labels: keys with values, and speakers with what they say."""

import re

from nnd.converters.make.forms.form import Form, divided, leaf_of, lines_of
from nnd.converters.make.forms.protected import NAME, SPEAKER

_KEYED = re.compile(
    r"(?P<bullet>(?:[-*•]\s+)?)(?P<key>[^\s:|=][^:|=\n]{0,59}?)\s?[:=]\s+(?P<text>\S[^\n]*)"
)
_UNDERLINE = re.compile(r"[-=]{3,}")
_NO_NAME = re.compile(r"[a-z_]|[^\W\d].*[_\d]")
"""Matches a key that is not a speaker: it begins with a small letter, or holds a digit later."""

_HEADING = 2


def keyed_form(text: str) -> Form | None:
    """Return the form of a text that is a list of keys and values, or None.

    It may have an underlined heading. Lines such as "Ann: Hi." are a dialogue, so without a heading
    some key must have a bullet, or be no name. Leaves are the heading and the values.
    """
    if "\n" not in text:
        return None
    lines = lines_of(text)
    has_heading = len(lines) > _HEADING and _UNDERLINE.fullmatch(text[slice(*lines[1])])
    heading, keyed = (lines[:1], lines[_HEADING:]) if has_heading else ([], lines)
    found = [each for line in keyed if (each := _KEYED.fullmatch(text, *line))]
    if len(found) < len(keyed) or len(keyed) + len(heading) < 2:  # noqa: PLR2004 - one is a sentence
        return None
    if not (heading or any(each["bullet"] or _NO_NAME.match(each["key"]) for each in found)):
        return None
    values = [each.span("text") for each in found]
    return Form(
        "key-values", text, [leaf_of(text, each) for each in heading + values], lambda: [keyed]
    )


_SPEAKER = re.compile(SPEAKER, re.MULTILINE)
_NEXT_TURN = {
    "lines": re.compile(rf"\n\s*(?={NAME}:\s|\Z)"),
    "bars": re.compile(rf"\s?\|\s+(?={NAME}:\s)"),  # "| Ann: Hi. | Bob: Hello."
}


def dialogue_form(text: str) -> Form | None:
    """Return the form of a text whose turns begin with a speaker, or None.

    A turn may have several lines, but more than half of the lines begin one (a third, if somebody
    speaks again), and the first does. The whole text is the leaf, because operations keep the names
    of speakers, which are the frame.
    """
    if ":" not in text:
        return None
    names = tuple(found["name"] for found in _SPEAKER.finditer(text))
    lines = lines_of(text)
    most_lines = len(names) * (3 if len({*names}) < len(names) else 2) - 1
    if len(names) < 2 or len(lines) > most_lines:  # noqa: PLR2004 - one is no dialogue
        return None
    if not _SPEAKER.match(text[lines[0][0] :].lstrip("|")):
        return None
    divider = _NEXT_TURN["bars" if len(lines) == 1 else "lines"]
    whole = leaf_of(text, (0, len(text)))
    return Form("dialogue", text, [whole], lambda: [divided(text, divider)], names)
