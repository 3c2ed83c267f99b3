"""Writing a source.yaml, with comments on what is left to fill in and why."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import yaml

from nnd.converters.onboard.scaffold.first_facts import TO_FILL
from nnd.converters.reading import load_yaml

_COUNTS = ("annotations", "contexts", "systems", "pairs", "by_error_category", "by_category")

_WIDTH = 96
_HEAD = f"""\
# Written by `nnd new-source`. {TO_FILL} is where only a person knows; when none is left,
# `nnd check-source` says what else a reviewer would ask.
"""
_EXPECTED = """\
# What the invented fixture gives. Counted by the converter itself: count it by hand,
# and say here how, before anyone relies on it.
"""


class Left(NamedTuple):
    """A field of source.yaml that only a person knows: what belongs there, and why."""

    field: str
    what: str
    why: str


_LEFT = load_yaml(Path(__file__).with_name("left.yaml").read_text("utf-8"))
_EXAMPLES = {entry["field"]: entry["example"] for entry in _LEFT if "example" in entry}
LEFT = tuple(Left(entry["field"], entry["what"], entry["why"]) for entry in _LEFT)


def left_to_fill(facts: Mapping[str, Any]) -> list[Left]:
    """Return the fields of the source that a person must still fill in or check."""
    return [left for left in LEFT if left.field in _EXAMPLES or facts.get(left.field, {}) != {}]


def as_yaml(facts: Mapping[str, Any], why: Mapping[str, str]) -> str:
    """Return a source.yaml with comments; `why` has the reasons for guessed fields."""
    fields = {**facts, **{name: value for name, value in _EXAMPLES.items() if name not in facts}}
    fields["expected"] = fields.pop("expected")  # the last
    known = {left.field: left for left in LEFT}
    found = [_HEAD]
    for field, value in fields.items():
        found.append("\n")
        if field in why:
            found.append(_comment(f"Guessed: {why[field]}."))
        if field in known and value != {}:
            found.append(_comment(f"{TO_FILL}: {known[field].what}. Why: {known[field].why}."))
        lines = _dump({field: value}).splitlines(keepends=True)
        found += lines if field in facts else [f"# {line}".replace("# \n", "#\n") for line in lines]
    return "".join(found)


class _Dumper(yaml.SafeDumper):
    """Writes short lists on one line, and texts of several lines as blocks."""


def _represent_list(dumper: _Dumper, value: list[Any]) -> yaml.Node:
    is_short = all(not isinstance(item, dict | list) for item in value) and len(str(value)) < _WIDTH
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=is_short)


def _represent_text(dumper: _Dumper, value: str) -> yaml.Node:
    # PyYAML reads some invisible characters as line ends, unless they are escaped.
    is_plain = all(char.isprintable() or char == "\n" for char in value)
    style = '"' if not is_plain else "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(str, _represent_text)


def _dump(value: object) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)


def _comment(text: str) -> str:
    """Return a text as comment lines, with invisible characters as escapes."""
    visible = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    lines = wrap(visible, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)


def counts_of(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts that later conversions are compared with."""
    return {name: counts[name] for name in _COUNTS if counts[name] or name != "by_category"}


def expected_yaml(counts: Mapping[str, Any], dropped: Mapping[str, int]) -> str:
    """Return the expected.yaml of a fixture, which tests compare with."""
    entry = {"set": None, "variant": None, **counts_of(counts), "dropped": dict(dropped)}
    return _EXPECTED + _dump([entry])
