"""The source.yaml of a new source: facts that its files show, and comments on what is open."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent, wrap
from typing import Any, NamedTuple

import yaml

from nnd.converters.onboard.guess.draft import Draft
from nnd.converters.onboard.guess.source_parts import TODO, questions_of, taxonomy_of
from nnd.schemas import load_yaml, one_line

TO_FILL = TODO
"""Placeholder in a source.yaml for facts that only a person knows."""

UNDETERMINED = "und"
"""BCP-47 tag of an unknown language."""

OPEN = "OPEN"
"""Begins the comment above a line of source.yaml that a person must look at."""

_WIDTH = 96
_HEAD = f"""\
# Written by `nnd new-source`, from: {{origin}}
# Shape: {{shape}}
# {OPEN} is above a line that the file does not settle: correct the line if it is wrong, then delete
# the comment. {TO_FILL} is where only a person knows. `nnd new-source {{name}}` says what is left.
"""


def source_facts(name: str, draft: Draft, files: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the content of a source.yaml for a draft, with `TO_FILL` for unknown facts.

    Each of `files` has name, url, sha256 and bytes.
    """
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
        "table": draft.table,
        "quality": draft.quality,
        "aspects": questions_of(draft.aspects),
        "taxonomy": taxonomy_of(draft.labels),
        "systems": dict.fromkeys(draft.systems),
        "expected": None,
    }
    if draft.cluster is not None:
        facts["cluster"] = draft.cluster
    if not all(text.is_full for text in draft.roles.candidates):
        facts["empty_candidates"] = "keep"
    facts["split"] = "one split, `test`"
    if "split" in draft.table.get("columns", {}):
        facts["split"] = "as the file has it"
    return facts


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


def as_yaml(facts: Mapping[str, Any], notes: Mapping[str, str], origin: str, shape: str) -> str:
    """Return a source.yaml with comments; `notes` has those of open lines, by their keys."""
    fields = {**facts, **{name: value for name, value in _EXAMPLES.items() if name not in facts}}
    fields["expected"] = fields.pop("expected")  # the last
    known = {left.field: left for left in LEFT}
    found = [_comment(_HEAD.format(origin=origin, shape=shape, name=facts["name"]))]
    for field, value in fields.items():
        found.append("\n")
        if field in known and value != {}:
            found.append(_comment(f"{TO_FILL}: {known[field].what}. Why: {known[field].why}."))
        text = _noted(field, value, notes)
        lines = text.splitlines(keepends=True)
        found += lines if field in facts else [f"# {line}".replace("# \n", "#\n") for line in lines]
    return "".join(found)


def _noted(name: str, value: Any, notes: Mapping[str, str], place: str = "") -> str:  # noqa: ANN401 - YAML
    """Return a field as YAML, with the comments of open lines above them."""
    place = place or {"table": "", "quality": "quality"}.get(name, name)
    note = _comment(f"{OPEN}: {notes[place]}") if place in notes else ""
    within = [key for key in notes if key.startswith(f"{place}." if place else "")]
    if not isinstance(value, Mapping) or not value or not within:
        return note + _dump({name: value})
    inner = "".join(
        _noted(key, item, notes, f"{place}.{key}" if place else key) for key, item in value.items()
    )
    return note + _dump({name: None}).replace(" null", "") + indent(inner, "  ")


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
    """Return a text as comment lines, with invisible characters as escapes.

    Of a note, only the first line is prose, and wrapped: the others are YAML to be copied.
    """
    if text.startswith("#"):
        return text
    prose, *copied = text.split("\n")
    lines = wrap(one_line(prose), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in [*lines, *copied])
