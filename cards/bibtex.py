"""A minimal BibTeX reader, which checks that entries can be used."""

import re
from collections.abc import Iterator

_START = re.compile(r"@\s*(\w+)\s*\{")
_KEY = re.compile(r"@\s*\w+\s*\{\s*([^\s,{}\"]+)\s*,")
_REQUIRED = ("title", "year")


def entries_in(text: str) -> Iterator[str]:
    """Yield the entries of a text, each from its @ to the brace that closes it, or to the end."""
    at = 0
    while start := _START.search(text, at):
        at, depth = start.end(), 1
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield text[start.start() : at]


def faults_of(text: str) -> Iterator[str]:
    """Yield what is wrong with a block of BibTeX, if anything."""
    if text.count("{") != text.count("}"):
        yield "the braces of the BibTeX do not match"
        return
    entries = list(entries_in(text))
    if not entries:
        yield "the BibTeX has no entry"
    for entry in entries:
        key = _KEY.match(entry)
        if key is None:
            yield f'"{entry.splitlines()[0]}" has no key'
            continue
        fields = {name.lower() for name in re.findall(r"[,\n]\s*(\w+)\s*=\s*[{\"\w]", entry)}
        yield from (f'"{key[1]}" has no {name}' for name in _REQUIRED if name not in fields)
