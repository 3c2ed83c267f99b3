"""What a text says, read by parsers that are not nnd's, and what an operation may change in it."""

import ast
import csv
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_TURN = re.compile(r"(?:^|\n|\| )([A-Z][\w'-]*(?: [\w'-]+){0,2}): ")


def read(text: str) -> Any:
    """The values of data, the turns of a dialogue, or the text itself."""
    for load in (json.loads, _lines, _literal):
        try:
            value = load(text.strip())
        except (ValueError, SyntaxError, RecursionError):
            continue
        if isinstance(value, dict | list):
            return value
    if len(parts := re.split(r"(?m)^```", text)) == 3:
        before, body, after = parts
        return {"before": before, "data": read(body.strip("\n")), "after": after}
    return _bars(text) or _table(text) or _bullets(text) or _turns(text) or text


def _bars(text: str) -> Any:
    """A Markdown table, and the prose around it."""
    lines = [line.strip() for line in text.split("\n")]
    if not any(re.fullmatch(r"\|(?: *:?-+:? *\|)+", line) for line in lines):
        return None
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if line.startswith("|")]
    prose = "\n".join(line for line in lines if not line.startswith("|"))
    first, _, last = prose.partition("\n\n\n")
    return {"first": first, "last": last, "header": str(rows[:2]), "rows": rows[2:]}


def _literal(text: str) -> Any:
    if text[:1] not in ("{", "["):
        raise ValueError(text)
    return ast.literal_eval(text)


def _lines(text: str) -> list[Any]:
    values = [json.loads(line) for line in text.split("\n") if line.strip()]
    if not (values and all(isinstance(value, dict) for value in values)):
        raise ValueError(text)
    return values


def _table(text: str) -> Any:
    comments = re.findall(r"(?m)^# ([\w ]+): (.*)$", text)
    rows = [*csv.reader(line for line in text.split("\n") if line.strip() and line[0] != "#")]
    widths = {len(row) for row in rows}
    spaced = any(cell.startswith(" ") for row in rows for cell in row)
    if len(rows) < 3 or len(widths) != 1 or widths == {1} or spaced:
        return None
    return {**dict(comments), "header": dict.fromkeys(rows[0]), "rows": rows[1:]}


def _bullets(text: str) -> Any:
    heading, _, rest = text.partition("\n---\n")
    lines = rest.split("\n")
    if not rest or not all(line.startswith("- ") and ": " in line for line in lines):
        return None
    return {"heading": heading, "pairs": [[*line[2:].split(": ", 1)] for line in lines]}


def _turns(text: str) -> Any:
    first, *parts = _TURN.split(text)
    if first.strip("| \n") or len(parts) < 4 or len(parts) // 2 < text.count("\n") / 2:
        return None
    said = (part.strip() for part in parts[1::2])
    return {"turns": [[*turn] for turn in zip(parts[::2], said, strict=True)]}


_NUMBER_WORDS = "zero|one|two|three|four|five|six|seven|eight|nine|ten"


def _mask(text: str) -> str:
    text = re.sub(rf"(?i)\d+(?:[.,]\d+)*|\b(?:{_NUMBER_WORDS})\b", "#", text)
    return re.sub(r"(?i)\b(an|a)(?=\s+#)", "a", text)


def _only_letters(old: str, new: str) -> bool:
    return len(old) == len(new) and all(
        one == other or (one.isascii() and one.isalpha() and other.isalpha())
        for one, other in zip(old, new, strict=True)
    )


def _is_part(old: str, new: str) -> bool:
    words = iter(old.split())
    return all(word in words for word in new.split())


def _without_end(text: str) -> str:
    return re.sub(r"[.?!。！？\s]+$", "", text)  # noqa: RUF001


_SAME: Mapping[str, Callable[[str, str], bool]] = {
    "typos": _only_letters,
    "whitespace": lambda old, new: old.replace(" ", "") == new.replace(" ", ""),
    "function_words": _is_part,
    "case": lambda old, new: old.lower() == new.lower(),
    "punctuation": lambda old, new: _without_end(old) == _without_end(new),
    "numbers": lambda old, new: _mask(old) == _mask(new),
    "order": lambda old, new: sorted(old) == sorted(new),
}
"""Operation → whether only what it names differs between two texts."""


def differs_elsewhere(operation: str, old: Any, new: Any, key: str = "") -> str | None:
    """The first difference that the operation does not name, or None."""
    if operation == "order" and not isinstance(old, str):
        return None if _unordered(old) == _unordered(new) else f"{key}: another content"
    if isinstance(old, dict):
        if not isinstance(new, dict) or [*old] != [*new]:
            return f"{key}: other keys"
        found = (differs_elsewhere(operation, old[name], new[name], name) for name in old)
        return next(filter(None, found), None)
    if isinstance(old, list | tuple):
        if not isinstance(new, list | tuple) or len(old) != len(new):
            return f"{key}: another length"
        pairs = zip(old, new, strict=True)
        return next(
            filter(None, (differs_elsewhere(operation, *each, key) for each in pairs)), None
        )
    if isinstance(old, str):
        is_same = isinstance(new, str) and _SAME[operation](old, new)
    elif operation == "numbers" and not isinstance(old, bool | None):
        is_same = type(old) is type(new) and (old == new or 0 <= new < 10 ** len(str(int(old))))
    else:
        is_same = type(old) is type(new) and old == new
    return None if is_same else f"{key}: {old!r} → {new!r}"


def _unordered(value: Any) -> Any:
    """The value without the order of members, records and rows, and of prose between fences."""
    if isinstance(value, dict):
        if isinstance(value.get("data"), str):
            value = {**value, "data": sorted(value["data"])}
        return sorted((key, repr(_unordered(each))) for key, each in value.items())
    if isinstance(value, list):
        inside = [_unordered(each) for each in value]
        are_records = all(isinstance(each, dict | list) for each in value)
        return sorted(inside, key=repr) if are_records else inside
    return value
