"""A source.yaml as text, with what is left to fill and why it is asked as comments."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from nnd.converters.new_source.scaffold.facts import TO_FILL

_WIDTH = 96


class Left(NamedTuple):
    """Something that only a person knows.

    Attributes:
        field: Field of source.yaml.
        what: What belongs there.
        why: Why it is asked.
    """

    field: str
    what: str
    why: str


LEFT = (
    Left("pretty_name", "the name that its authors gave it", "it heads the card"),
    Left("task", "what the systems did, e.g. summarization", "people look for sources by task"),
    Left(
        "languages",
        "BCP-47 codes such as en or pt-BR, the first for all candidates that do not say",
        "models are chosen by language; `und` says that nobody knows",
    ),
    Left(
        "licence",
        "its SPDX identifier as the authors state it, or unknown; what the data says counts, and "
        "not what the code beside it says",
        "without one nobody may hand the data on, and publishing refuses",
    ),
    Left(
        "redistribution",
        "allowed, no-derivatives or unknown, as the licence has it",
        "publishing asks it before a byte leaves the machine",
    ),
    Left(
        "citation",
        "BibTeX of the paper",
        "those who made the evaluation are cited wherever its pairs go",
    ),
    Left("homepage", "where the source lives", "readers check what they are told"),
    Left(
        "files",
        "the url the file can be fetched from, best of a fixed commit; or a note below that names "
        "the file and tells how to get it",
        "`nnd convert` fetches it then; sha256 and bytes are those of the file that was looked at",
    ),
    Left(
        "aspects",
        "the question that the annotators answered, word for word where it is known",
        "a rate means nothing to who does not know what was asked",
    ),
    Left("quality", "whether the rule is right", "it decides which candidate is the better one"),
    Left(
        "taxonomy",
        "what each error is, in a sentence, and a coarse group if the source has any",
        "rates are told by error, and its label alone is often read wrongly",
    ),
    Left(
        "systems",
        "the Hub id of each that is public",
        "its own pass rate can then be held against what people said of it",
    ),
    Left("split", "how the source is split", "nobody shall train on what others test on"),
    Left("notes", "known quirks, a sentence each", "the next reader stumbles over them, too"),
    Left("task_categories", "of the Hub, e.g. [summarization]", "the Hub's search goes by them"),
    Left(
        "source_datasets",
        "original, or what the texts were taken from, e.g. extended|cnn_dailymail",
        "a model may have been trained on it",
    ),
    Left(
        "texts",
        "what the contexts are and who wrote the candidates",
        "the card begins with it",
    ),
    Left(
        "annotators",
        "crowdsourced, expert-generated, found, machine-generated or other",
        "experts and crowds find different errors",
    ),
    Left(
        "annotation_process",
        "who judged, how many for a candidate, what they saw, how far they agreed; say so where "
        "nobody tells",
        "it says how far the labels can be trusted",
    ),
    Left(
        "limitations",
        "what tests made of this source cannot show",
        "you know it better than those who will use them",
    ),
    Left(
        "personal_information",
        "what the texts hold of persons, and what is known of the annotators",
        "published data cannot be taken back",
    ),
    Left(
        "expected",
        "the same numbers counted by other means",
        "from here on a conversion of this file that gives anything else is an error",
    ),
)
"""What is left to fill after `nnd new-source`, in the order of source.yaml."""

_OPTIONAL = {
    "notes": [f"{TO_FILL}"],
    "task_categories": ["text-generation"],
    "source_datasets": ["original"],
    "texts": TO_FILL,
    "annotators": ["other"],
    "annotation_process": TO_FILL,
    "limitations": [TO_FILL],
    "personal_information": TO_FILL,
}
"""Fields that are not written, but shown as comments: nothing is better than a guess there."""


def left_to_fill(facts: Mapping[str, Any]) -> list[Left]:
    """Return what a person must still fill in or check, of the fields that the source has."""
    return [
        left
        for left in LEFT
        if left.field in _OPTIONAL or (left.field in facts and facts[left.field] != {})
    ]


def as_yaml(facts: Mapping[str, Any], why: Mapping[str, str]) -> str:
    """Return a source.yaml with comments.

    Args:
        facts: What is in it.
        why: Field → a comment of its own: why its value was guessed.
    """
    lines = [
        f"# Written by `nnd new-source`. {TO_FILL} stands where only a person knows; when none is",
        "# left, `nnd check-source` says what else a reviewer would ask.",
    ]
    known = {left.field: left for left in LEFT}
    for field, value in _with_optional(facts):
        lines.append("")
        if field in why:
            lines += _comment(f"Guessed: {why[field]}.")
        if field in known and value != {}:
            lines += _comment(f"{TO_FILL}: {known[field].what}. Why: {known[field].why}.")
        text = _dump({field: value})
        is_shown = field not in facts
        lines += [f"# {line}" if is_shown else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"


class _Dumper(yaml.SafeDumper):
    """Short lists on one line, texts of several lines as a block."""


def _represent_list(dumper: _Dumper, value: list[Any]) -> yaml.Node:
    is_short = all(not isinstance(item, dict | list) for item in value) and len(str(value)) < _WIDTH
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=is_short)


def _represent_text(dumper: _Dumper, value: str) -> yaml.Node:
    # PyYAML reads some characters that nobody sees as line ends, unless they are escaped.
    is_plain = all(char.isprintable() or char == "\n" for char in value)
    style = '"' if not is_plain else "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(str, _represent_text)


def _dump(value: object) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)


def _with_optional(facts: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    found = {**facts, **{field: value for field, value in _OPTIONAL.items() if field not in facts}}
    expected = {name: found.pop(name) for name in ("expected",) if name in found}
    return list({**found, **expected}.items())


def _comment(text: str) -> list[str]:
    """Return a text as comment lines; what cannot be seen is written as an escape."""
    lines, line = [], "#"
    for word in "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text).split(" "):
        if len(line) + len(word) >= _WIDTH and line != "#":
            lines.append(line)
            line = "#"
        line += f" {word}"
    return [*lines, line]


def expected_yaml(counts: Mapping[str, Any], dropped: Mapping[str, int]) -> str:
    """Return the expected.yaml of a fixture: what the tests hold it against."""
    entry = {
        "set": None,
        "variant": None,
        **{name: counts[name] for name in ("annotations", "contexts", "systems", "pairs")},
        "by_error_category": counts["by_error_category"],
        **({"by_category": counts["by_category"]} if counts["by_category"] else {}),
        "dropped": dict(dropped),
    }
    head = (
        "# What the invented fixture gives. Counted by the converter itself: count it by hand,\n"
        "# and say here how, before anybody relies on it.\n"
    )
    return head + _dump([entry])
