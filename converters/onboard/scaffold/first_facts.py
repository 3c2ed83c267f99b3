"""The source.yaml of a new source: facts that its files show, and comments on what is left."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import yaml

from nnd.converters.onboard.guess.guessing import Guess
from nnd.converters.onboard.scaffold.table_section import TableSection
from nnd.converters.reading import load_yaml
from nnd.schemas import SourceError

TO_FILL = "TODO"
"""Placeholder in a source.yaml for facts that only a person knows."""

UNDETERMINED = "und"
"""BCP-47 tag of an unknown language."""

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


def source_facts(name: str, guess: Guess, files: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the content of a source.yaml for a guess, with `TO_FILL` for unknown facts.

    Each of `files` has name, url, sha256 and bytes.
    """
    aspects = [measure.aspect for measure in guess.measures] or ["quality"]
    facts: dict[str, Any] = {
        "name": name,
        "pretty_name": name.replace("_", " ").capitalize(),
        "task": f"{TO_FILL}, for example summarization",
        "languages": [UNDETERMINED],
        "licence": "unknown",
        "redistribution": "unknown",
        "citation": f"@misc{{{name},\n  title = {{{TO_FILL}}},\n  author = {{{TO_FILL}}},\n"
        f"  year = {{{TO_FILL}}}\n}}\n",
        "homepage": None,
        "files": list(files),
        "aspects": dict.fromkeys(aspects, f"{TO_FILL}, the question that the annotators answered"),
        "quality": dict(guess.quality.rule),
        "taxonomy": {
            label: {
                "name": label[:1].upper() + label[1:].replace("_", " "),
                "group": None,
                "description": f"{TO_FILL}, what the error is",
            }
            for label in guess.quality.errors
        },
        "systems": dict.fromkeys(systems_of(guess)),
    }
    facts["table"] = TableSection(guess).written()
    if any(
        column.filled < column.rows or any(not cell.strip() for cell in column.cells)
        for column in guess.candidates
    ):
        facts["empty_candidates"] = "keep"
    facts["split"] = "as the file has it" if "split" in guess.keys else "one split, `test`"
    return facts


def systems_of(guess: Guess) -> list[str]:
    """Return the names of systems in the order of the file; `|` joins those of one text."""
    columns = guess.pair.systems if guess.pair else [guess.system] if guess.system else []
    names: dict[str, None] = {}
    for column in columns:
        names |= dict.fromkeys(name for cell in column.counts for name in cell.split("|"))
        if "" in names or column.filled < column.rows:
            raise SourceError(
                f"--system: {column.name} has cells without a name, where the system of each "
                "candidate must be; name another column, say --system none, or correct the file"
            )
    return list(names)


class OpenField(NamedTuple):
    """A field of source.yaml that only a person knows: what belongs there, and why."""

    field: str
    what: str
    why: str


_LEFT = load_yaml(Path(__file__).with_name("left.yaml").read_text("utf-8"))
_EXAMPLES = {entry["field"]: entry["example"] for entry in _LEFT if "example" in entry}
LEFT = tuple(OpenField(entry["field"], entry["what"], entry["why"]) for entry in _LEFT)


def left_to_fill(facts: Mapping[str, Any]) -> list[OpenField]:
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
