"""What the comment above an open line offers: whole sections of source.yaml, to be copied."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from math import inf
from typing import Any

import yaml

from nnd.converters.onboard.guess.source_parts import Change
from nnd.schemas import listed, one_line

INSTEAD = "or, in place of"
"""Begins an alternative in a comment."""


def with_choices(
    notes: Mapping[str, str], choices: Mapping[str, Sequence[Change]], facts: Mapping[str, Any]
) -> dict[str, str]:
    """Return the notes, each with what its line may say instead.

    `facts` is the content of source.yaml. The first line of a note is prose; below it, each choice
    has the sections that change, whole, after the names of those in whose place they are put.
    """
    return {place: _whole(text, choices.get(place, ()), facts) for place, text in notes.items()}


def _whole(text: str, changes: Sequence[Change], facts: Mapping[str, Any]) -> str:
    if not changes:
        return one_line(text)
    n = len(changes)
    has = f"the comment has {n} alternatives" if n > 1 else "the comment has an alternative"
    lines = (line for change in changes for line in _lines(change, facts))
    return "\n".join([f"{one_line(text)}; {has}", *lines])


def _lines(change: Change, facts: Mapping[str, Any]) -> Iterator[str]:
    now = {**facts, **facts["table"]}
    then: dict[str, Any] = {}
    for keys, value in change.items():
        section, *inner = keys.split(".")
        then[section] = _changed(then.get(section, now.get(section)), inner, value)
    yield f"{INSTEAD} {listed([f'`{name}`' for name in then if name in now])}:"
    for name, value in then.items():
        if value is not None:
            text = yaml.safe_dump(
                {name: value},
                default_flow_style=True,
                width=inf,
                allow_unicode=True,
                sort_keys=False,
            )
            yield f"  {text.strip()[1:-1]}"


def _changed(value: Any, keys: Sequence[str], new: Any) -> Any:  # noqa: ANN401 - YAML
    """Return a section in which the value that some keys lead to is another one."""
    if not keys:
        return new
    changed = deepcopy(value) or {}
    changed[keys[0]] = _changed(changed.get(keys[0]), keys[1:], new)
    return {key: item for key, item in changed.items() if item is not None}
