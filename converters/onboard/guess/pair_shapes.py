"""Shapes of rows that hold several texts.

Choices, a better and a worse text, two texts and a verdict, or a text of each system.
"""

from collections.abc import Sequence
from typing import Any

from nnd.converters.check import words_of
from nnd.converters.onboard.contents.level_columns import Column, level_of
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.draft import Draft
from nnd.converters.onboard.guess.roles import Roles, is_score
from nnd.converters.onboard.guess.source_parts import TODO, quoted, taxonomy_of
from nnd.converters.source import unfolded_keys

SIDES = 2
"""Texts of a pair."""

_CHOICES = frozenset(["choices", "options", "endings", "completions", "candidates"])
_RIGHT = words.VERDICT | {"label", "lbl", "answer", "index", "gold", "correct"}
_MOST_VERDICTS = 8
_TIES = frozenset(["tie", "ties", "tied", "same", "equal", "both", "neither", "draw", "none"])


def choices_of(roles: Roles) -> list[Column]:
    """Return the texts of lists in a row that has the number of the right one."""
    lists = [c for c in roles.content.columns if c.level.endswith("[]") and c.kind == "text"]
    able = [c for c in lists if c.words & _CHOICES or c.length >= words.SHORT]
    return [c for c in able if _right_numbers(roles, c)]


def _right_numbers(roles: Roles, choices: Column) -> list[Column]:
    outer = choices.level[:-2].rpartition(".")[0]
    beside = (c for c in roles.content.columns if c.holder == outer and c.kind == "number")
    sized = (c for c in beside if c.words & _RIGHT)
    most = len(choices.values) / max(len(roles.content.records), 1)
    return [c for c in sized if c.numbers and min(c.numbers) >= 0 and max(c.numbers) <= most]


def write_choices(draft: Draft) -> None:
    """Write the section for lists of texts of which one is right."""
    right, *_ = _right_numbers(draft.roles, draft.roles.candidates[0])
    base = int(min(right.numbers))
    shift = "" if base else " + 1"
    text = (
        f"CASE WHEN CAST(_key AS INT) = CAST({quoted(right.path)} AS INT){shift} THEN 1 ELSE 0 END"
    )
    draft.table["scores"] = {"quality": draft.compute("is_right", text)}
    draft.note("scores.quality", f"{right.path} is read as counting from {base}")
    columns = draft.part("columns")
    columns.pop("context_id", None)
    columns |= {"group": _row_id(draft), "candidate_id": draft.row_key()}
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


def sides_of(roles: Roles) -> list[Column]:
    """Return the better and the worse text of a row, by their names or by the options."""
    given = roles.named("candidate")
    return edited_texts(roles) or (given if len(given) == SIDES else [])


def write_edited(draft: Draft) -> None:
    """Write the section for a better and a worse text."""
    high, low = draft.roles.candidates
    pairs = {"high": high.path, "low": low.path}
    draft.note("pairs.high", "the better text, by its name")
    draft.offer("pairs.high", {"pairs.high": low.path, "pairs.low": high.path})
    kinds = words.ERROR | {"type", "category", "operation", "name"}
    kind = draft.roles.first(kinds, lambda c: c.kind == "text" and c.is_full and c.repetition > 1)
    if kind is not None:
        pairs["category"] = kind.path
        draft.note("pairs.category", "what is wrong with the worse text")
        alone = {"pairs.category": None, "taxonomy": taxonomy_of(["worse"])}
        draft.offer("pairs.category", alone)
        draft.part("columns").pop("category", None)
    _write_pairs(draft, pairs | {"id": _row_id(draft)}, [*kind.counts] if kind else ["worse"])


def _row_id(draft: Draft) -> str:
    many = len(draft.roles.content.files) > 1
    return draft.compute("row_id", "_file || '/' || _row") if many else "_row"


def _write_pairs(draft: Draft, pairs: dict[str, Any], labels: Sequence[str] = ("worse",)) -> None:
    draft.table["pairs"] = pairs
    draft.aspects, draft.labels = ["quality"], list(labels)
    draft.quality = {"rule": "no_error", "no_error": "better"}


def compared_texts(roles: Roles) -> list[Column]:
    """Return two texts of a row, if a column says which is better rather than how good each is."""
    texts = roles.candidates if len(roles.candidates) == SIDES else []
    verdicts = _verdicts(roles, texts) if texts else []
    is_named = any(column.words & words.VERDICT for column in verdicts)
    return texts if is_named or (verdicts and not patterns_of_judgements(roles)) else []


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
    roles, sides = draft.roles, draft.roles.candidates
    verdicts, place = _verdicts(roles, sides), "pairs.values"
    values: dict[str, list[str]] = {"first": [], "second": []}
    unclear = []
    for cell in dict.fromkeys(cell for column in verdicts for cell in column.counts):
        side = _meaning(cell, sides)
        if side is None:
            unclear.append(cell)
        else:
            values.setdefault(("first", "second", "tie")[side], []).append(cell.strip())
    values = {name: cells or [f"{TODO} {name}"] for name, cells in values.items()}
    if unclear:
        text = "cells that name neither text, to be put under a side or `tie: [...]`"
        draft.note(place, text, unclear)
    else:
        draft.note(place, "what the cells mean")
        exchanged = {**values, "first": values["second"], "second": values["first"]}
        draft.offer(place, {"pairs.values": exchanged})
    first, second = (_side(draft, side, sides) for side in sides)
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
    _write_pairs(draft, pairs)


def _side(draft: Draft, side: Column, sides: Sequence[Column]) -> str | dict[str, str]:
    """Return the column of a text, with that of its system if a name says so."""
    own = {*_differing(sides)[sides.index(side)].split()}
    able = (c for c in draft.roles.row_columns if c.words & words.SYSTEM and c not in sides)
    system = next((c for c in able if own & c.words and c.counts), None)
    if system is None:
        return side.path
    draft.systems += [name for name in system.counts if name not in draft.systems]
    return {"candidate": side.path, "system": system.path}


def patterns_of_judgements(roles: Roles) -> dict[str, str]:
    """Return the patterns of columns that say how good each of several texts of a row is."""
    patterns = _patterns(roles)
    return {name: own for name, own in patterns.items() if not {*words_of(name)} & words.SYSTEM}


def _patterns(roles: Roles) -> dict[str, str]:
    """Return the patterns of columns that each of several texts of a row has, by a short name."""
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


def write_systems(draft: Draft) -> None:
    """Write the section for a text of each system."""
    roles = draft.roles
    wide, patterns = _wide(roles.candidates), _patterns(roles)
    part = next(iter(wide.values()))
    pattern = roles.candidates[0].path.replace(part, "{system}", 1)
    same = all(name == own for name, own in wide.items())
    draft.table["wide"] = {
        "systems": [*wide] if same else wide,
        "columns": {"candidate": pattern, **patterns},
    }
    draft.note("wide", "each row has a text of each of these systems; take out what is none")
    columns = {"candidate": "candidate", "system": "_system"}
    judged, draft.systems = list[Column](), [*wide]
    for name, own in patterns.items():
        paths = [own.replace("{system}", part) for part in wide.values()]
        column = Column(name, [value for path in paths for value in roles.by_path[path].values])
        if {*words_of(name)} & words.SYSTEM:
            columns["system"], draft.systems = name, [*column.counts]
        else:
            judged.append(column)
    draft.part("columns").update(columns)
    if draft.table.get("context") == "none":
        del draft.table["context"]
        draft.ask_for_context()
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
    if len(found) < SIDES:
        return False
    level = level_of(found["best"].removesuffix("[]"))
    if level:
        draft.table["unfold"] = level
        draft.part("columns")["group"] = draft.compute(
            "own_row", " || '/' || ".join(["_file", *unfolded_keys(level)])
        )
    draft.table["best_worst"] = {"quality": found}
    draft.by_order()
    draft.note("quality.minimum", "the best has 1, the worst -1, others 0: with 2 only these pair")
    return True
