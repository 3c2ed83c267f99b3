"""Shapes of rows that hold several texts: choices, an edited text, two texts and a verdict."""

from collections.abc import Sequence
from typing import Any

from nnd.converters.check import words_of
from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.draft import TODO, Draft, quoted
from nnd.converters.onboard.guess.roles import Roles
from nnd.converters.onboard.guess.system_rows import SIDES, patterns_of_judgements
from nnd.schemas import SourceError

_CHOICES = frozenset(["choices", "options", "endings", "completions", "candidates"])
_MOST_VERDICTS = 8
_TIES = frozenset(["tie", "ties", "tied", "same", "equal", "both", "neither", "draw", "none"])


def choices_of(roles: Roles) -> list[Column]:
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


def write_choices(draft: Draft) -> None:
    """Write the section for lists of texts of which one is right."""
    content, found = draft.roles.content, choices_of(draft.roles)
    right = _right_number(draft.roles, found[0]) if found else None
    if right is None:
        raise SourceError("--shape: no list of texts has the number of the right one beside it")
    choices = found[0]
    roles = Roles(content, {**draft.roles.given, "candidate": [choices.path]})
    draft.roles = roles
    draft.read_files()
    draft.read_row()
    draft.part("columns").pop("context_id", None)
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


def edited_texts(roles: Roles) -> list[Column]:
    """Return the better and the worse text of a row, by their names."""
    texts = [c for c in roles.row_columns if c.kind == "text" and c.level == roles.level]
    if len(given := roles.named("candidate")) == SIDES:
        texts = given
    for low in (c for c in texts if c.words & words.WORSE_TEXT and any(" " in t for t in c.counts)):
        rest = low.words - words.WORSE_TEXT
        for high in texts:
            left = high.words - words.BETTER_TEXT
            if high is not low and high.words & words.BETTER_TEXT and (left == rest or not rest):
                return [high, low]
    return []


def write_edited(draft: Draft) -> None:
    """Write the section for a better and a worse text."""
    roles, texts = draft.roles, edited_texts(draft.roles) or draft.roles.named("candidate")
    if len(texts) != SIDES:
        raise SourceError(
            "--shape: no two columns are a better and a worse text by their names; name both by "
            "--candidate, the better one first"
        )
    high, low = texts
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


def compared_texts(roles: Roles) -> list[Column]:
    """Return two texts of a row whose names differ in a number or letter."""
    texts = roles.candidates if len(roles.candidates) == SIDES else []
    return texts if texts and _verdicts(roles, texts) and not patterns_of_judgements(roles) else []


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
        and (column.kind != "number" or len(column.counts) <= SIDES + 1)
    ]
    if given := roles.named("label"):
        return [column for column in clear if column in given]
    return [c for c in clear if c.words & words.VERDICT] or clear


def _meaning(cell: str, sides: Sequence[Column]) -> int | None:
    """Return the side that a verdict names, 2 for a tie, None if it is unclear."""
    found = words_of(cell)
    if {*found} & _TIES:
        return SIDES
    parts = _differing(sides)
    named = [n for n, part in enumerate(parts) if part and {*part.split()} & {*found}]
    named = named or [n for n, side in enumerate(sides) if cell.strip() == side.path]
    if len(named) == 1:
        return named[0]
    orders = [["a", "b"], ["1", "2"], ["first", "second"], ["left", "right"]]
    plain = [order.index(word) for order in orders for word in found if word in order]
    return plain[0] if len(plain) == 1 else None


def write_verdicts(draft: Draft) -> None:
    """Write the section for two texts and a verdict, or one of each annotator."""
    roles = draft.roles
    sides = roles.candidates[:SIDES]
    if len(sides) < SIDES:
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
