"""The shapes of annotation files: how each looks, how it is recognised, and what its section says.

The first shape in `SHAPES` that fits is the likeliest; the others that fit are named, too.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from nnd.converters.check import words_of
from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.clusters import propose_cluster
from nnd.converters.onboard.guess.draft import NO_ERROR, Draft
from nnd.converters.onboard.guess.name_words import more_is_better
from nnd.converters.onboard.guess.pair_shapes import (
    SIDES,
    choices_of,
    compared_texts,
    edited_texts,
    patterns_of_judgements,
    sides_of,
    write_choices,
    write_edited,
    write_systems,
    write_verdicts,
)
from nnd.converters.onboard.guess.roles import MARKED, UNMARKED, Roles, is_unclear
from nnd.converters.onboard.guess.source_parts import (
    TODO,
    aspect_names,
    literal,
    questions_of,
    quoted,
)
from nnd.schemas import SourceError, check_known

_TAG = re.compile(r"<(\w+)>[^<>]+</\1>")
_TAGGED = 0.1  # of the texts


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of rows."""

    name: str
    picture: str  # one line
    fits: Callable[[Roles], object]  # what is found of it, or nothing
    write: Callable[[Draft], None]  # its part of the section, after those that all shapes have
    # The texts of a row, of which it has several; None if it has one.
    texts: Callable[[Roles], list[Column]] | None = None
    unfolds: bool = False  # whether each of the texts is then read as a row


def shapes_of(roles: Roles) -> list[Shape]:
    """Return the shapes that fit, the likeliest first."""
    return [shape for shape in SHAPES if shape.fits(roles)]


def draft_of(roles: Roles, shape: Shape) -> Draft:
    """Return the section for a shape, in the order in which it is read."""
    if shape.texts is not None:
        texts = [column.path for column in shape.texts(roles)]
        if not texts:
            raise SourceError(
                "column.missing",
                f"no columns hold {shape.picture}",
                "--shape",
                "name the texts by --candidate, or choose another shape",
            )
        roles = Roles(roles.content, {**roles.given, "candidate": texts})
    draft = Draft(roles)
    draft.read_files()
    draft.read_row(has_candidate=shape.texts is None or shape.unfolds)
    shape.write(draft)
    propose_cluster(draft)
    order = (
        *("files", "unfold", "wide", "compute", "columns", "inputs", "context", "metadata"),
        "references",
    )
    first = {key: draft.table[key] for key in order if draft.table.get(key)}
    draft.table = {**first, **{k: v for k, v in draft.table.items() if k not in order}}
    return draft


def shape_named(name: str) -> Shape:
    """Return a shape by its name."""
    known = {shape.name: shape for shape in SHAPES}
    check_known("shape", [name], known, "--shape", code="option.unknown-value", family=SourceError)
    return known[name]


def _write_lists(draft: Draft) -> None:
    """Write the section for a list of errors or of ratings in each row."""
    listed = draft.roles.listed
    if not listed:
        draft.judge_nothing()
        return
    is_number = all(c.kind == "number" and not c.words & words.LABEL for c in listed)
    if is_number and not draft.roles.given.get("label"):
        names = aspect_names(listed)
        draft.table["ratings"] = {name: [column.path] for name, column in names.items()}
        for name, column in names.items():
            if more_is_better([column]) is not True:
                draft.note(f"ratings.{name}", f"more of {column.path} is read as better")
        draft.by_numbers(names, many=True, better=[True])
        return
    first, *others = listed
    aspect = words.slug(first.holder.replace("[]", "").rpartition(".")[2], "errors")
    draft.table["labels"] = {aspect: first.path}
    draft.by_labels([first], [aspect])
    if others:
        draft.note(f"labels.{aspect}", "other lists of labels", others)


def _write_marks(draft: Draft) -> None:
    names = {column.path: column.path for column in draft.roles.marks}
    cells = sorted({cell.strip() for column in draft.roles.marks for cell in column.counts})
    blank = [cell for cell in cells if cell.lower() in UNMARKED]
    draft.table["marks"] = {
        "errors": {
            "no_error": NO_ERROR,
            "marks": [cell for cell in cells if cell.lower() in MARKED] or [TODO],
            **({"blank": blank} if blank else {}),
            "columns": names,
        }
    }
    draft.note("marks.errors", "a mark is read as an error. Take out columns that are not errors")
    marks = [cell for cell in cells if cell.lower() in MARKED]
    rows = zip(*(column.values for column in draft.roles.marks), strict=True)
    if blank and any({str(cell).strip() for cell in row} <= {*marks} for row in rows):
        exchanged = {"marks.errors.marks": blank, "marks.errors.blank": marks}
        draft.offer("marks.errors", exchanged)
    if others := [c for c in draft.roles.judged if c not in draft.roles.marks]:
        draft.note("marks.errors.columns", "not read, since a mark may be good there", others)
    draft.aspects, draft.labels = ["errors"], list(names)
    draft.quality = {"rule": "no_error", "no_error": NO_ERROR}


def _tags(roles: Roles) -> list[str]:
    """Return the tags around marked words in candidates, e.g. <v> and </v>."""
    texts = [text for column in roles.candidates for text in column.counts]
    names = dict.fromkeys(name for text in texts for name in _TAG.findall(text))
    often = [n for n in names if sum(f"<{n}>" in text for text in texts) >= _TAGGED * len(texts)]
    return [tag for name in often for tag in (f"<{name}>", f"</{name}>")]


def _write_spans(draft: Draft) -> None:
    roles, columns = draft.roles, draft.part("columns")
    for role in ("annotator", "candidate_id", "category"):
        columns.pop(role, None)
    draft.part("compute").pop("row_key", None)
    judged = [c for c in roles.judged if c.kind == "text"]
    kind = judged[0] if judged else _of_text(roles, words.LABEL | {"category"})
    good, draft.aspects = NO_ERROR, ["errors"]
    spans = draft.part("spans")
    spans["category"] = kind.path if kind else TODO
    if kind is None:
        draft.note("spans.category", "what is wrong with the marked words")
    else:
        draft.by_labels([kind], ["errors"])
        if draft.quality["no_error"] != TODO:
            good = draft.quality["no_error"]
        place, text = "spans.no_error", "the category of rows that say that nothing is wrong"
        draft.note(place, text, kind.counts)
        draft.labels = [label for label in kind.counts if label != good]
        draft.quality = {"rule": "no_error", "no_error": good}
    spans["no_error"] = good
    if who := roles.first(words.ANNOTATOR, lambda c: c.is_full):
        spans["annotator"] = who.path
    if tags := _tags(roles):
        spans["tags"] = tags


def _of_text(roles: Roles, kinds: frozenset[str]) -> Column | None:
    return roles.first(kinds, lambda c: c.kind == "text")


def _aspect(roles: Roles) -> Column | None:
    """Return the column that names the aspect of a row, if each text is in several rows."""
    own = [c for c in (*roles.candidates[:1], *roles.contexts) if c.level == roles.level]
    rows = [str(row) for row in zip(*(c.values for c in own), strict=True)]
    is_aspect = len(set(rows)) < len(rows)
    fits = roles.first(words.ASPECT, lambda c: c.kind == "text" and c.is_full and c.repetition > 1)
    return fits if is_aspect and fits and fits.length < words.SHORT else None


def _write_aspects(draft: Draft) -> None:
    roles, aspect = draft.roles, _aspect(draft.roles)
    draft.part("columns").pop("candidate_id", None)
    if roles.annotator is not None:
        draft.part("columns")["annotator"] = roles.annotator.path
    judged = [c for c in roles.judged if c is not aspect] or [
        c
        for c in roles.free(roles.contexts, roles.systems)
        if c.kind == "number"
        and c not in (aspect, roles.annotator)
        and not c.words & words.IDENTIFIER
    ]
    if aspect is None or not judged:
        draft.judge_nothing()
        return
    names = {cell: words.slug(cell, "quality") for cell in aspect.counts}
    path = judged[0].path
    if judged[0].kind != "number" or judged[0] in roles.named("label"):
        draft.table["pivot"] = {"aspect": aspect.path, "names": names, "label": path}
        draft.by_labels(judged[:1], list(dict.fromkeys(names.values())))
        return
    lower = [cell for cell in names if {*words_of(cell)} & words.WORSE]
    draft.by_numbers(
        dict.fromkeys(names.values(), judged[0]),
        many=roles.annotator is not None,
        better=[cell not in lower for cell in names],
    )
    if lower:
        cells = ", ".join(map(literal, lower))
        number = f"CAST({quoted(path)} AS DOUBLE)"
        where = f"{quoted(aspect.path)} IN ({cells})"
        path = draft.compute("turned", f"CASE WHEN {where} THEN 0 - {number} ELSE {number} END")
    draft.table["pivot"] = {"aspect": aspect.path, "names": names, "score": path}
    text = "less is read as better for" if lower else "more is better for"
    draft.note("pivot.names", text, lower or names)


def _write_raters(draft: Draft) -> None:
    who = draft.roles.annotator
    draft.part("columns")["annotator"] = who.path if who else TODO
    _write_plain(draft)
    if "scores" in draft.table and draft.roles.judged:
        draft.by_numbers(aspect_names(draft.roles.judged), many=True)


def _alike(roles: Roles) -> list[Column]:
    """Return columns of numbers whose names differ only by a number or an annotator."""

    def stem(column: Column) -> frozenset[str]:
        return frozenset(w for w in column.words - words.ANNOTATOR if not w.isdigit())

    numbers = [c for c in roles.judged if c.kind == "number"]
    found = [c for c in numbers if sum(stem(c) == stem(o) for o in numbers) > 1]
    return found if len({stem(c) for c in found}) == 1 else []


def _write_ratings(draft: Draft) -> None:
    columns = _alike(draft.roles)
    if not columns:
        draft.judge_nothing()
        return
    stem = [w for w in words_of(columns[0].name) if not w.isdigit()]
    aspect = words.slug("_".join(stem), "quality")
    place = f"ratings.{aspect}"
    draft.table["ratings"] = {aspect: [draft.turned(column, place) for column in columns]}
    draft.choices.pop(place, None)  # of one column, where there are several
    draft.by_numbers({aspect: columns[0]}, many=True)
    said = draft.notes.get(place)
    draft.note(place, "several people's numbers, or an aspect each" + (f"; {said}" if said else ""))
    names = aspect_names(columns)
    each = {
        "ratings": None,
        "scores": {name: column.path for name, column in names.items()},
        "quality": {"rule": "gap", "minimum": draft.quality.get("minimum", 1)},
        "aspects": questions_of(names),
    }
    draft.offer(place, each)


def _write_plain(draft: Draft) -> None:
    if draft.roles.judged:
        draft.judge(draft.roles.judged)
    else:
        draft.judge_nothing()


def _ranks(roles: Roles) -> list[Column]:
    numbers = (column for column in roles.row_columns if column.kind == "number")
    return [column for column in numbers if column.words & {"rank", "ranking"}]


def _write_ranks(draft: Draft) -> None:
    ranks = _ranks(draft.roles)
    draft.table["ranks"] = {"quality": ranks[0].path if ranks else TODO}
    draft.note("ranks.quality", "1 is the best; a `group` keeps comparisons within a ranking")
    if who := draft.roles.annotator:
        draft.offer("ranks.quality", {"columns.group": who.path})
    draft.by_order()


def _is_labelled(roles: Roles) -> list[Column]:
    given = roles.named("label")
    return [c for c in roles.judged if c.kind != "number" or c in given or is_unclear(c)]


def _is_spans(roles: Roles) -> bool:
    is_marked = bool(_tags(roles)) or _of_text(roles, words.SEVERITY) is not None
    return is_marked and _of_text(roles, words.LABEL | {"category"}) is not None


def _texts(roles: Roles) -> list[Column]:
    return roles.candidates if len(roles.candidates) >= SIDES else []


SHAPES = (
    Shape(
        "choices",
        "a list of texts, and the number of the right one",
        choices_of,
        write_choices,
        lambda r: choices_of(r)[:1],
        unfolds=True,
    ),
    Shape("edited", "a better and a worse text in a row", edited_texts, write_edited, sides_of),
    Shape(
        "verdicts",
        "two texts in a row, and which is better, by one or several annotators",
        compared_texts,
        write_verdicts,
        lambda r: _texts(r)[:SIDES],
    ),
    Shape(
        "systems",
        "a text of each system in a row, with its judgements",
        lambda r: len(r.candidates) > SIDES or (_texts(r) and patterns_of_judgements(r)),
        write_systems,
        _texts,
    ),
    Shape(
        "lists",
        "a text with a list of its errors, or of ratings",
        lambda r: r.listed,
        _write_lists,
    ),
    Shape("spans", "a marked error in a row", _is_spans, _write_spans),
    Shape(
        "marks",
        "a text in a row, a column of marks for each error",
        lambda r: r.candidates and r.marks,
        _write_marks,
    ),
    Shape("aspects", "a text and an aspect in a row", _aspect, _write_aspects),
    Shape(
        "raters",
        "a text and an annotator in a row",
        lambda r: r.annotator and r.judged,
        _write_raters,
    ),
    Shape(
        "ratings",
        "a text in a row, several people's numbers for one aspect",
        _alike,
        _write_ratings,
    ),
    Shape("labels", "a text in a row, with a label", _is_labelled, _write_plain),
    Shape("ranks", "a text in a row, with its rank", _ranks, _write_ranks),
    Shape("scores", "a text in a row, with a number for each aspect", lambda _: True, _write_plain),
)
"""All shapes, the one that says most first."""
