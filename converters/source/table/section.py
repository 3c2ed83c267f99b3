"""The `table` sections of a source.yaml: what they name, and checks beyond the schema."""

import itertools
import string
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from nnd.converters.source.source import Source
from nnd.schemas import SourceError, rule_of, shown

Table: TypeAlias = Mapping[str, Any]
"""A section, valid under `source.schema.json`."""

NO_CONTEXT = "none"
"""The `context` of a section whose candidates have none."""

_MEASURES = ("scores", "ratings", "ranks", "best_worst", "labels", "marks")
_ALONE = (("labels", "marks"), ("scores", "ranks", "best_worst"))
"""An aspect has at most one of each of these."""

_OF_SPAN = ("category", "severity", "weight", "start", "end")


def tables_of(source: Source) -> list[Table]:
    """Return the sections of a source: `table`, or the list `tables`."""
    facts = source.facts
    return [facts["table"]] if "table" in facts else list(facts.get("tables", []))


def check_table(table: Table, source: Source) -> None:
    """Raise an error at the first thing in a section that contradicts another, if any does."""
    for part, what, remedy in _faults(table, source):
        raise SourceError("source.definition", what, place_of(source, *part), remedy)


class _Fault(NamedTuple):
    part: list[str]  # of the section
    what: str
    remedy: str


def _faults(table: Table, source: Source) -> Iterator[_Fault]:
    yield from _faults_of_context(table)
    yield from _faults_of_scale(table, source)
    for kinds in _ALONE:
        for one, other in itertools.combinations(kinds, 2):
            if twice := sorted({*table.get(one, {})} & {*table.get(other, {})}):
                what = f"{', '.join(twice)} has both {one} and {other}"
                yield _Fault([], what, "keep one of them")
    yield from _faults_of_columns(table, source)
    if "pairs" in table:
        yield from _faults_of_pairs(table["pairs"], source)
    elif not aspects_of(table) and not {"pivot", "spans"} & {*table}:
        remedy = f"add one of {', '.join(_MEASURES)}, pivot, or spans"
        yield _Fault([], "no judgement is named", remedy)


def _faults_of_columns(table: Table, source: Source) -> Iterator[_Fault]:
    columns = table.get("columns", {})
    shape = next((kind for kind in ("ratings", "pairs", "spans") if kind in table), None)
    if shape and "annotator" in columns:
        yield _Fault(
            ["columns"],
            "annotator is for rows that are one annotator's scores or labels of a candidate, and "
            f"this section has {shape}",
            "take it out of `columns`",
        )
    declared = [file.name for file in source.files]
    joined = [name for join in joins_of(table) for name in as_texts(join["file"])]
    for name in (*table.get("files", []), *joined):
        if name not in declared:
            what = f"{shown(name)} is not declared, only {', '.join(declared)}"
            yield _Fault(["files"], what, "add it under `files` of the source")
    if "pairs" not in table and "candidate" not in columns:
        remedy = "name the column of the generated text, or say by `pairs` that a row holds two"
        yield _Fault(["columns"], "candidate is missing", remedy)
    aspects = source.facts["aspects"]
    for shape in ("pairs", "spans"):
        if "aspect" not in table.get(shape, {"aspect": None}) and len(aspects) > 1:
            what = f"aspect is missing, and the source has several ({', '.join(aspects)})"
            yield _Fault([shape], what, "add `aspect` with one of them")


def _faults_of_context(table: Table) -> Iterator[_Fault]:
    has_none = table.get("context") == NO_CONTEXT
    if has_none == ("inputs" in table):
        yield _Fault(
            ["context"],
            f"`{NO_CONTEXT}` is for texts that were written without one",
            "take `inputs` out" if has_none else "write it, or name the context in `inputs`",
        )
        return
    if has_none:
        if "pairs" not in table and not {"context_id", "group"} & {*table.get("columns", {})}:
            yield _Fault(
                ["context", NO_CONTEXT],
                "all candidates would be compared with each other",
                "name under `columns` the group that they are compared within",
            )
        return
    try:
        fields = list(string.Formatter().parse(template_of(table)))
    except ValueError as error:
        remedy = "write the inputs as one text, each part's name in braces"
        yield _Fault(["context"], str(error), remedy)
        return
    for _, part, spec, conversion in fields:
        if part is not None and (part not in table["inputs"] or spec or conversion):
            yield _Fault(
                ["context"],
                f'"{{{part}}}" is not a part of the inputs, only {", ".join(table["inputs"])}',
                "write a part's name in braces and nothing else",
            )


def _faults_of_scale(table: Table, source: Source) -> Iterator[_Fault]:
    measured = {*table.get("scores", {}), *table.get("ratings", {})}
    measured |= {*source.facts["aspects"]} if "score" in table.get("pivot", {}) else set()
    for aspect, (lowest, highest) in table.get("scale", {}).items():
        if aspect not in measured:
            what = f"{shown(aspect)} has neither scores nor ratings"
            yield _Fault(["scale"], what, "correct its name")
        if not lowest < highest:
            what = f"{lowest:g} is not lower than {highest:g}"
            yield _Fault(["scale", shown(aspect)], what, "write the lowest value first")


def _faults_of_pairs(pairs: Mapping[str, Any], source: Source) -> Iterator[_Fault]:
    rule = rule_of(source.facts["quality"], only_aspect(pairs, source))
    if rule["rule"] == "no_error" and rule["no_error"] != "better":
        yield _Fault(
            ["pairs"],
            "the better text of a row is labelled `better`, but quality says no_error: "
            f"{rule['no_error']}",
            "write no_error: better",
        )
    cells = [cell for cells in pairs.get("values", {}).values() for cell in as_texts(cells)]
    if len(set(cells)) < len(cells):
        yield _Fault(["pairs", "values"], "a verdict has two meanings", "list each one once")


def _yaml(source: Source) -> str:
    key = "table" if "table" in source.facts else "tables"
    return f"{source.folder / 'source.yaml'}: {key}"


def template_of(table: Table) -> str:
    """Return the template that renders the parts of a context; a single part needs none."""
    parts: list[str] = list(table.get("inputs", {}))
    if not parts:
        return ""
    if "context" not in table and len(parts) > 1:
        raise ValueError("there are several inputs and no template")
    return str(table.get("context", f"{{{parts[0]}}}"))


def aspects_of(table: Table) -> list[str]:
    """Return the aspects for which a section has labels, marks, scores or ratings."""
    return list(dict.fromkeys(name for kind in _MEASURES for name in table.get(kind, {})))


def only_aspect(shape: Mapping[str, Any], source: Source) -> str:
    """Return the aspect of a section of pairs or spans: its own, or the only one of the source."""
    return str(shape.get("aspect", next(iter(source.facts["aspects"]))))


def as_texts(cells: Any) -> list[str]:  # noqa: ANN401 - a text, a number or a list of them
    """Return the texts that a section states as one text or a list."""
    return [str(cell) for cell in (cells if isinstance(cells, list) else [cells])]


def file_names(table: Table, source: Source) -> list[str]:
    """Return the declared names of the files that a section reads; by default the main file."""
    return list(table.get("files", [source.files[0].name]))


def joins_of(table: Table) -> list[Mapping[str, Any]]:
    """Return the joins of a section, which states one or a list."""
    join = table.get("join", [])
    return [join] if isinstance(join, Mapping) else list(join)


def title_of(table: Table, source: Source) -> str:
    """Return the name of a section in reported counts, made of its files."""
    first, *others = file_names(table, source)
    return f"{first} and {len(others)} more" if others else first


def columns_of(table: Table) -> list[str]:
    """Return the distinct columns that a `table` section names."""
    return list(dict.fromkeys(_named(table)))


def place_of(source: Source, *names: str) -> str:
    """Return the place of a part of a section in source.yaml, for messages."""
    return ": ".join([_yaml(source), *names])


def _named(table: Table) -> Iterator[str]:
    for mapping in ("columns", "inputs", "metadata", "scores", "ranks"):
        yield from table.get(mapping, {}).values()
    yield from (column for name, column in table.get("pivot", {}).items() if name != "names")
    for named in table.get("best_worst", {}).values():
        yield from named.values()
    yield from table.get("references", [])
    for label in table.get("labels", {}).values():
        yield label if isinstance(label, str) else label["column"]
    for columns in table.get("ratings", {}).values():
        yield from columns
    for marks in table.get("marks", {}).values():
        yield from marks["columns"].values()
    spans = table.get("spans", {})
    in_row = ("annotator", "list") if "list" in spans else ("annotator", *_OF_SPAN)
    yield from (spans[name] for name in in_row if name in spans)
    for name, value in table.get("pairs", {}).items():
        if name in ("high", "low", "first", "second") and isinstance(value, Mapping):
            yield from value.values()
        elif name not in ("aspect", "values", "edited"):
            yield value
