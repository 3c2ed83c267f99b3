"""The shapes of annotation files: how each looks, how it is recognised, and what its section says.

The first shape in `SHAPES` that fits is the likeliest; the others that fit are named, too.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nnd.converters.check import words_of
from nnd.converters.onboard.contents.level_columns import Column, level_of
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.draft import TODO, Draft, aspect_names, literal, quoted
from nnd.converters.onboard.guess.roles import MARKED, UNMARKED, Roles, is_score, is_unclear
from nnd.converters.source import unfolded_keys
from nnd.schemas import SourceError, did_you_mean

_SIDES = 2
_CHOICES = frozenset(["choices", "options", "endings", "completions", "candidates"])
_MOST_VERDICTS = 8
_TIES = frozenset(["tie", "ties", "tied", "same", "equal", "both", "neither", "draw", "none"])
_TAG = re.compile(r"<(\w+)>[^<>]+</\1>")
_TAGGED = 0.1  # of the texts
_NO_ERROR = "no error"


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of rows."""

    name: str
    picture: str  # one line
    fits: Callable[[Roles], object]
    write: Callable[[Draft], None]


def shapes_of(roles: Roles) -> list[Shape]:
    """Return the shapes that fit, the likeliest first."""
    return [shape for shape in SHAPES if shape.fits(roles)]


def draft_of(roles: Roles, shape: Shape) -> Draft:
    """Return the section for a shape, in the order in which it is read."""
    draft = Draft(roles)
    draft.read_files()
    shape.write(draft)
    order = ("files", "unfold", "wide", "compute", "columns", "inputs", "context", "references")
    first = {key: draft.table[key] for key in order if key in draft.table}
    draft.table = {**first, **draft.table}
    return draft


def shape_named(name: str) -> Shape:
    """Return a shape by its name."""
    known = {shape.name: shape for shape in SHAPES}
    if name not in known:
        raise SourceError(
            f'--shape: unknown shape "{name}"{did_you_mean(name, known)}; known: {", ".join(known)}'
        )
    return known[name]


def _choices(roles: Roles) -> list[Column]:
    """Return the lists of texts in a row that has the number of the right one."""
    lists = [c for c in roles.content.columns if c.path.endswith("[]") and c.kind == "text"]
    able = [c for c in lists if c.words & _CHOICES or c.length >= words.SHORT]
    return [c for c in able if _right_number(roles, c)]


def _right_number(roles: Roles, choices: Column) -> Column | None:
    outer = choices.path[:-2].rpartition(".")[0]
    beside = (c for c in roles.content.columns if c.holder == outer and c.kind == "number")
    sized = (c for c in beside if c.words & {"label", "lbl", "answer", "index", "gold", "correct"})
    most = len(choices.values) / max(len(roles.content.records), 1)
    return next(
        (c for c in sized if c.numbers and min(c.numbers) >= 0 and max(c.numbers) <= most), None
    )


def _write_choices(draft: Draft) -> None:
    (choices, *_), content = _choices(draft.roles), draft.roles.content
    right = _right_number(draft.roles, choices)
    roles = Roles(content, {**draft.roles.given, "candidate": [choices.path]})
    draft.roles = roles
    draft.read_files()
    draft.read_row()
    draft.part("columns").pop("context_id", None)
    if right is None:
        raise ValueError("no column has the number of the right choice")
    base = int(min(right.numbers))
    shift = "" if base else " + 1"
    text = (
        f"CASE WHEN CAST(_key AS INT) = CAST({quoted(right.path)} AS INT){shift} THEN 1 ELSE 0 END"
    )
    draft.table["scores"] = {"quality": draft.compute("is_right", text)}
    draft.note("scores.quality", f"{right.path} is read as counting from {base}")
    draft.part("columns")["group"] = _row_id(draft)
    draft.part("columns")["candidate_id"] = draft.row_key()
    draft.systems, draft.aspects = [], ["quality"]
    draft.quality = {"rule": "credit", "high": [1], "low": [0]}


def _edited(roles: Roles) -> list[Column]:
    """Return the better and the worse text of a row, by their names."""
    texts = [c for c in roles.row_columns if c.kind == "text" and c.level == roles.level]
    if len(given := roles.named("candidate")) == _SIDES:
        texts = given
    for low in (c for c in texts if c.words & words.WORSE_TEXT and any(" " in t for t in c.counts)):
        rest = low.words - words.WORSE_TEXT
        for high in texts:
            left = high.words - words.BETTER_TEXT
            if high is not low and high.words & words.BETTER_TEXT and (left == rest or not rest):
                return [high, low]
    return []


def _write_edited(draft: Draft) -> None:
    roles, (high, low) = draft.roles, _edited(draft.roles)
    draft.roles = Roles(roles.content, {**roles.given, "candidate": [high.path, low.path]})
    draft.read_row(has_candidate=False)
    references = [c for c in draft.table.get("references", []) if c not in (high.path, low.path)]
    draft.table.pop("references", None)
    draft.table |= {"references": references} if references else {}
    pairs = {"high": high.path, "low": low.path}
    draft.note("pairs.high", "the better text, by its name; if the other one is, exchange them")
    kind = draft.roles.first(words.ERROR | {"type", "category", "operation", "name"}, _is_kind)
    if kind is not None:
        pairs["category"] = kind.path
        draft.note("pairs.category", "what is wrong with the worse text; delete it if it says not")
        draft.part("columns").pop("category", None)
    pairs["id"] = _row_id(draft)
    draft.table["pairs"] = pairs
    _better(draft, [*kind.counts] if kind else ["worse"])


def _is_kind(column: Column) -> bool:
    return column.kind == "text" and column.is_full and column.repetition > 1


def _row_id(draft: Draft) -> str:
    many = len(draft.roles.content.files) > 1
    return draft.compute("row_id", "_file || '/' || _row") if many else "_row"


def _better(draft: Draft, labels: Sequence[str]) -> None:
    if not draft.table.get("columns", {1: 1}):
        del draft.table["columns"]
    draft.aspects, draft.labels = ["quality"], list(labels)
    draft.quality = {"rule": "no_error", "no_error": "better"}


def _sides(roles: Roles) -> list[Column]:
    """Return two texts of a row whose names differ in a number or letter."""
    texts = roles.candidates if len(roles.candidates) == _SIDES else []
    return texts if texts and _verdicts(roles, texts) and not _scored(roles) else []


def _differing(sides: Sequence[Column]) -> list[str]:
    """Return the words in which the names of two texts differ."""
    one, other = (words_of(side.path) for side in sides)
    return [" ".join(w for w in a if w not in b) for a, b in ((one, other), (other, one))]


def _verdicts(roles: Roles, sides: Sequence[Column]) -> list[Column]:
    """Return the columns whose cells say which of two texts is better."""
    able = [
        column
        for column in roles.row_columns
        if column not in sides
        and column.level == roles.level
        and 1 < len(column.counts) <= _MOST_VERDICTS
        and column.length < words.SHORT
    ]
    meanings = {c.path: [_meaning(cell, sides) for cell in c.counts] for c in able}
    clear = [
        column
        for column in able
        if {0, 1} <= {*meanings[column.path]}
        and meanings[column.path].count(None) <= 1
        and (column.kind != "number" or len(column.counts) <= _SIDES + 1)
    ]
    if given := roles.named("label"):
        return [column for column in clear if column in given]
    return [c for c in clear if c.words & words.VERDICT] or clear


def _meaning(cell: str, sides: Sequence[Column]) -> int | None:
    """Return the side that a verdict names, 2 for a tie, None if it is unclear."""
    found = words_of(cell)
    if {*found} & _TIES:
        return _SIDES
    parts = _differing(sides)
    named = [n for n, part in enumerate(parts) if part and {*part.split()} & {*found}]
    named = named or [n for n, side in enumerate(sides) if cell.strip() == side.path]
    if len(named) == 1:
        return named[0]
    orders = [["a", "b"], ["1", "2"], ["first", "second"], ["left", "right"]]
    plain = [order.index(word) for order in orders for word in found if word in order]
    return plain[0] if len(plain) == 1 else None


def _write_verdicts(draft: Draft) -> None:
    roles = draft.roles
    sides = roles.candidates[:_SIDES]
    if len(sides) < _SIDES:
        raise SourceError("--shape: this shape needs two texts in a row; name both by --candidate")
    verdicts = _verdicts(roles, sides)
    draft.read_row(has_candidate=False)
    values: dict[str, list[str]] = {"first": [], "second": []}
    unclear = []
    for cell in dict.fromkeys(cell for column in verdicts for cell in column.counts):
        side = _meaning(cell, sides)
        if side is None:
            unclear.append(cell)
        else:
            values.setdefault(("first", "second", "tie")[side], []).append(cell.strip())
    values = {name: cells or [f"{TODO} {name}"] for name, cells in values.items()}
    place = "pairs.values"
    draft.note(
        place, "cells that name neither text, to be put under a side or `tie: [...]`", unclear
    )
    if not unclear:
        draft.note(place, "what the cells mean; if it is the other way round, exchange them")
    first, second = (_side(roles, side, sides) for side in sides)
    better = verdicts[0].path if verdicts else TODO
    pairs: dict[str, Any] = {"first": first, "second": second, "better": better, "values": values}
    if len(verdicts) > 1:
        names = [column.path for column in verdicts]
        draft.table["wide"] = {"systems": names, "columns": {"verdict": "{system}"}}
        draft.note("wide", "one verdict column per annotator; if they are aspects, keep one")
        pairs |= {"better": "verdict", "annotator": "_system"}
    elif (who := roles.first(words.ANNOTATOR, lambda c: c.is_full)) is not None:
        pairs["annotator"] = who.path
    else:
        pairs["id"] = _row_id(draft)
        draft.note("pairs.id", "a row is a pair; without this line, rows of two texts are votes")
    draft.table["pairs"] = pairs
    _better(draft, ["worse"])


def _side(roles: Roles, side: Column, sides: Sequence[Column]) -> str | dict[str, str]:
    """Return the column of a text, with that of its system if a name says so."""
    own = {*_differing(sides)[sides.index(side)].split()}
    able = (c for c in roles.row_columns if c.words & words.SYSTEM and c not in sides)
    system = next((c for c in able if own & c.words and len(c.counts) > 1), None)
    return {"candidate": side.path, "system": system.path} if system else side.path


def _scored(roles: Roles) -> dict[str, str]:
    """Return the patterns of columns that each of several texts of a row has: its judgements."""
    wide = _wide(roles.candidates)
    known = {column.path for column in roles.row_columns}
    found = {}
    for column in roles.row_columns:
        part = next((p for p in wide.values() if p in column.path and column.path != p), None)
        if part is None or column in roles.candidates or column.kind == "empty":
            continue
        pattern = column.path.replace(part, "{system}", 1)
        if all(pattern.replace("{system}", other) in known for other in wide.values()):
            found[words.slug(pattern.replace("{system}", ""), "judged")] = pattern
    return found


def _wide(candidates: Sequence[Column]) -> dict[str, str]:
    """Return system → its part in the names of columns, for a text of each system in a row."""
    paths = [column.path for column in candidates]
    start, end = _shared(paths), _shared([path[::-1] for path in paths])
    parts = [path[len(start) : len(path) - len(end)] for path in paths]
    parts = parts if all(parts) else paths
    return {part.strip("_- .") or part: part for part in parts}


def _shared(names: Sequence[str]) -> str:
    """Return the common beginning of names, up to the end of a word."""
    size = next((n for n, chars in enumerate(zip(*names, strict=False)) if len({*chars}) > 1), 0)
    while size and names[0][size - 1].isalnum():
        size -= 1
    return names[0][:size]


def _write_systems(draft: Draft) -> None:
    roles = draft.roles
    if len(roles.candidates) < _SIDES:
        raise SourceError("--shape: systems needs the texts of a row; name each by --candidate")
    wide, patterns = _wide(roles.candidates), _scored(roles)
    part = next(iter(wide.values()))
    pattern = roles.candidates[0].path.replace(part, "{system}", 1)
    same = all(name == own for name, own in wide.items())
    draft.table["wide"] = {
        "systems": [*wide] if same else wide,
        "columns": {"candidate": pattern, **patterns},
    }
    draft.note("wide", "each row has a text of each of these systems; take out what is none")
    by_path = {column.path: column for column in roles.content.columns}
    judged = []
    for name, own in patterns.items():
        cells = [v for p in wide.values() for v in by_path[own.replace("{system}", p)].values]
        judged.append(Column(name, cells))
    draft.read_row(has_candidate=False)
    draft.part("columns").update({"system": "_system", "candidate": "candidate"})
    draft.systems = [*wide]
    if draft.table.get("context") == "none":
        draft.table["inputs"] = {"context": TODO}
        del draft.table["context"]
        draft.note("inputs", "what the systems were given is one of", roles.possible_contexts)
    judged = [column for column in judged if column.kind == "number" or is_score(column)]
    if judged:
        draft.judge(judged)
    elif not _best_worst(draft):
        draft.judge_nothing()


def _best_worst(draft: Draft) -> bool:
    """Read the columns, if any, that name the best and the worst system."""
    found: dict[str, str] = {}
    for column in draft.roles.content.columns:
        side = next(iter(column.words & {"best", "worst"}), None)
        if side and {*column.counts} <= {*draft.systems}:
            found.setdefault(side, column.path)
    if len(found) < _SIDES:
        return False
    level = level_of(found["best"].removesuffix("[]"))
    if level:
        draft.table["unfold"] = level
        draft.part("columns")["group"] = draft.compute(
            "own_row", " || '/' || ".join(["_file", *unfolded_keys(level)])
        )
    draft.table["best_worst"] = {"quality": found}
    draft.aspects, draft.quality = ["quality"], {"rule": "gap", "minimum": 1, "tolerance": 1e-6}
    draft.note("quality.minimum", "the best has 1, the worst -1, others 0: with 2 only these pair")
    return True


def _write_lists(draft: Draft) -> None:
    """Write the section for a list of errors or of ratings in each row."""
    listed = draft.roles.listed
    draft.read_row()
    is_number = all(c.kind == "number" and not c.words & words.LABEL for c in listed)
    if is_number and not draft.roles.given.get("label"):
        names = aspect_names(listed)
        draft.table["ratings"] = {name: [column.path] for name, column in names.items()}
        draft.by_numbers(names, many=True)
        return
    first, *others = listed
    aspect = words.slug(first.holder.replace("[]", "").rpartition(".")[2], "errors")
    draft.table["labels"] = {aspect: first.path}
    draft.by_labels([first], [aspect])
    if others:
        draft.note(f"labels.{aspect}", "other lists of labels", others)


def _write_marks(draft: Draft) -> None:
    marks = draft.roles.marks
    draft.read_row()
    cells = sorted({cell.strip() for column in marks for cell in column.counts})
    blank = [cell for cell in cells if cell.lower() in UNMARKED]
    names = {column.path: column.path for column in marks}
    draft.table["marks"] = {
        "errors": {
            "no_error": _NO_ERROR,
            "marks": [cell for cell in cells if cell.lower() in MARKED] or [TODO],
            **({"blank": blank} if blank else {}),
            "columns": names,
        }
    }
    draft.note(
        "marks.errors",
        "a mark is read as an error; if it means that all is well, exchange "
        "`marks` and `blank`. Take out columns that are not errors",
    )
    draft.aspects, draft.labels = ["errors"], list(names)
    draft.quality = {"rule": "no_error", "no_error": _NO_ERROR}


def _tags(roles: Roles) -> list[str]:
    """Return the tags around marked words in candidates, e.g. <v> and </v>."""
    texts = [text for column in roles.candidates for text in column.counts]
    names = dict.fromkeys(name for text in texts for name in _TAG.findall(text))
    often = [n for n in names if sum(f"<{n}>" in text for text in texts) >= _TAGGED * len(texts)]
    return [tag for name in often for tag in (f"<{name}>", f"</{name}>")]


def _write_spans(draft: Draft) -> None:
    roles = draft.roles
    draft.read_row()
    columns = draft.part("columns")
    for role in ("annotator", "candidate_id", "category"):
        columns.pop(role, None)
    draft.part("compute").pop("row_key", None)
    if not draft.table["compute"]:
        del draft.table["compute"]
    kind = next((c for c in roles.judged if c.kind == "text"), None) or roles.first(
        words.LABEL | {"category"}, lambda c: c.kind == "text"
    )
    if kind is None:
        draft.table["spans"] = {"category": TODO, "no_error": _NO_ERROR}
        draft.note("spans.category", "what is wrong with the marked words")
    else:
        draft.by_labels([kind], ["errors"])
        good = draft.quality["no_error"]
        if good == TODO:
            good = _NO_ERROR
        draft.table["spans"] = {"category": kind.path, "no_error": good}
        draft.note(
            "spans.no_error", "the category of rows that say that nothing is wrong", kind.counts
        )
        draft.labels = [label for label in kind.counts if label != good]
        draft.quality = {"rule": "no_error", "no_error": good}
        columns.pop("group", None)
    if who := roles.first(words.ANNOTATOR, lambda c: c.is_full):
        draft.table["spans"]["annotator"] = who.path
    if tags := _tags(roles):
        draft.table["spans"]["tags"] = tags
    draft.aspects = ["errors"]
    draft.table.pop("labels", None)


def _aspect(roles: Roles) -> Column | None:
    """Return the column that names the aspect of a row, if each text is in several rows."""
    own = [c for c in (*roles.candidates[:1], *roles.contexts) if c.level == roles.level]
    rows = [str(row) for row in zip(*(c.values for c in own), strict=True)]
    is_aspect = len(set(rows)) < len(rows)
    fits = roles.first(words.ASPECT, lambda c: c.kind == "text" and c.is_full and c.repetition > 1)
    return fits if is_aspect and fits and fits.length < words.SHORT else None


def _write_aspects(draft: Draft) -> None:
    roles, aspect = draft.roles, _aspect(draft.roles)
    draft.read_row()
    draft.part("columns").pop("candidate_id", None)
    if roles.annotator is not None:
        draft.part("columns")["annotator"] = roles.annotator.path
    judged = [c for c in roles.judged if c is not aspect] or [
        c
        for c in roles.free(roles.contexts, roles.systems)
        if c.kind == "number"
        and c is not aspect
        and c is not roles.annotator
        and not c.words & words.IDENTIFIER
    ]
    if aspect is None or not judged:
        draft.judge_nothing()
        return
    names = {cell: words.slug(cell, "quality") for cell in aspect.counts}
    column = judged[0]
    draft.by_numbers(dict.fromkeys(names.values(), column), many=roles.annotator is not None)
    lower = [cell for cell in names if {*words_of(cell)} & words.WORSE]
    path = column.path
    if lower:
        cells = ", ".join(map(literal, lower))
        number = f"CAST({quoted(path)} AS DOUBLE)"
        where = f"{quoted(aspect.path)} IN ({cells})"
        path = draft.compute("turned", f"CASE WHEN {where} THEN 0 - {number} ELSE {number} END")
    draft.table["pivot"] = {"aspect": aspect.path, "names": names, "score": path}
    draft.note(
        "pivot.names",
        "less is read as better for" if lower else "more is better for",
        lower or names,
    )


def _write_raters(draft: Draft) -> None:
    who = draft.roles.annotator
    draft.read_row()
    draft.part("columns")["annotator"] = who.path if who else TODO
    _judge(draft, many=True)


def _alike(roles: Roles) -> list[Column]:
    """Return columns of numbers whose names differ only by a number or an annotator."""

    def stem(column: Column) -> frozenset[str]:
        return frozenset(w for w in column.words - words.ANNOTATOR if not w.isdigit())

    numbers = [c for c in roles.judged if c.kind == "number"]
    found = [c for c in numbers if sum(stem(c) == stem(o) for o in numbers) > 1]
    return found if len({stem(c) for c in found}) == 1 else []


def _write_ratings(draft: Draft) -> None:
    columns = _alike(draft.roles)
    draft.read_row()
    stem = [w for w in words_of(columns[0].name) if not w.isdigit()] if columns else ["quality"]
    aspect = words.slug("_".join(stem), "quality")
    draft.table["ratings"] = {aspect: [column.path for column in columns] or [TODO]}
    draft.note(f"ratings.{aspect}", "several people's numbers; if each is an aspect, use `scores:`")
    draft.by_numbers({aspect: columns[0]} if columns else {}, many=True)
    draft.aspects = [aspect]


def _judge(draft: Draft, *, many: bool = False) -> None:
    columns = draft.roles.judged
    if not columns:
        draft.judge_nothing()
        return
    draft.judge(columns)
    if many and "scores" in draft.table:
        draft.by_numbers(aspect_names(columns), many=True)


def _write_plain(draft: Draft) -> None:
    draft.read_row()
    _judge(draft)


def _ranks(roles: Roles) -> Column | None:
    return next(
        (c for c in roles.row_columns if c.kind == "number" and c.words & {"rank", "ranking"}), None
    )


def _write_ranks(draft: Draft) -> None:
    rank = _ranks(draft.roles)
    draft.read_row()
    draft.table["ranks"] = {"quality": rank.path if rank else TODO}
    draft.note("ranks.quality", "1 is the best; name under `columns` the `group` of a ranking")
    draft.aspects, draft.quality = ["quality"], {"rule": "gap", "minimum": 1, "tolerance": 1e-6}


def _is_labelled(roles: Roles) -> list[Column]:
    given = roles.named("label")
    return [c for c in roles.judged if c.kind != "number" or c in given or is_unclear(c)]


def _is_spans(roles: Roles) -> bool:
    severity = roles.first(words.SEVERITY, lambda c: c.kind == "text")
    kind = roles.first(words.LABEL | {"category"}, lambda c: c.kind == "text")
    return bool(_tags(roles) or severity) and kind is not None


SHAPES = (
    Shape("choices", "a list of texts, and the number of the right one", _choices, _write_choices),
    Shape("edited", "a better and a worse text in a row", _edited, _write_edited),
    Shape(
        "verdicts",
        "two texts in a row, and which is better, by one or several annotators",
        _sides,
        _write_verdicts,
    ),
    Shape(
        "systems",
        "a text of each system in a row, with its judgements",
        lambda r: len(r.candidates) > 1 and (len(r.candidates) > _SIDES or _scored(r)),
        _write_systems,
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
