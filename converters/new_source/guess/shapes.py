"""Rows that are not a candidate each: two texts and which is better, a text per system, spans."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from nnd.converters.contents import Column, words_of
from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.questions import Answers, Ask, Question, ask_for
from nnd.schemas import SourceError

TIE = "tie"
SYSTEM, CANDIDATE = "_system", "candidate"
"""What the columns of split rows are called."""

_TIES = frozenset(["tie", "tied", "draw", "equal", "same", "both", "neither", "none"])
_MOST_VERDICTS = 10
_TAGGED = 0.1  # of the texts
_TAG = re.compile(r"<(\w+)>[^<>]+</\1>")


@dataclass(frozen=True, slots=True)
class Pair:
    """Rows that hold two texts of which one is better: the first, where there is no verdict."""

    sides: tuple[Column, Column]
    systems: tuple[Column, ...]  # that name the system of each, if any
    verdict: Column | None
    values: Mapping[str, str]  # cell of the verdict → `first`, `second` or `tie`


def pair_of(
    sides: Sequence[Column], columns: Sequence[Column], answers: Answers, ask: Ask | None
) -> Pair | None:
    """Return how the better of two texts is known; None where each is judged by itself."""
    if answers.label or answers.score or answers.rating or answers.mark:
        return None
    one, other = sides
    rest = [column for column in columns if column not in sides]
    better = answers.better or _ask_better(sides, rest, ask)
    systems = tuple(
        column
        for side in sides
        for column in rest
        if column.words & words.SYSTEM and _side(side, sides) & column.words
    )
    systems = systems if len(systems) == len(sides) else ()
    if better in (one.name, other.name):
        turned = better == other.name
        ordered = (other, one) if turned else (one, other)
        return Pair(ordered, systems[::-1] if turned else systems, None, {})
    verdict = next((column for column in rest if column.name == better), None)
    if verdict is None:
        names = ", ".join(column.name for column in (*sides, *_verdicts(rest)))
        raise SourceError(f"--better: there is no column {better}; it may be one of {names}")
    values = _values(verdict, (one, other), answers)
    return Pair((one, other), systems, verdict, values)


def _ask_better(sides: Sequence[Column], rest: Sequence[Column], ask: Ask | None) -> str:
    names = tuple(column.name for column in (*sides, *_verdicts(rest)))
    text = f"Which of {sides[0].name} and {sides[1].name} is better?"
    why = "name the column of the better text, or of the verdict; where each text is judged by "
    why += "itself, name its columns with --score or --label instead"
    (answer,) = ask_for(Question("better", text, names, why), ask)
    return answer


def _verdicts(columns: Sequence[Column]) -> list[Column]:
    return [
        column
        for column in columns
        if column.above == 0
        and column.kind in ("text", "number")
        and 1 < len(column.counts) <= _MOST_VERDICTS
        and column.is_short
        and not column.words & (words.CONTEXT | words.CANDIDATE)
    ]


def _side(column: Column, sides: Sequence[Column]) -> frozenset[str]:
    """Return the words of a name that the names of the other texts do not have."""
    others = (other.words for other in sides if other is not column)
    return column.words - frozenset(chain.from_iterable(others))


def _values(verdict: Column, sides: tuple[Column, Column], answers: Answers) -> dict[str, str]:
    """Return what each cell of a verdict means, as its words or the user say."""
    names = {sides[0].name: "first", sides[1].name: "second", TIE: TIE}
    given = dict(entry.partition("=")[::2] for entry in answers.verdict)
    found: dict[str, str] = {}
    for cell in verdict.counts:
        meant = names.get(given.get(cell, cell))
        if meant is None and cell not in given:
            said = frozenset(words_of(cell))
            fits = [side for side in sides if said & _side(side, sides)]
            meant = names[fits[0].name] if len(fits) == 1 else TIE if said & _TIES else None
        if meant is not None:
            found[cell] = meant
    left = [cell for cell in verdict.counts if cell not in found]
    if left or not {"first", "second"} <= {*found.values()}:
        left = left or list(verdict.counts)
        usage = " ".join(f"--verdict {cell}=COLUMN" for cell in left)
        raise SourceError(
            f"What do the verdicts {', '.join(left)} under {verdict.name} mean? Say so with "
            f"{usage}, where COLUMN is {sides[0].name}, {sides[1].name} or {TIE}"
        )
    return found


@dataclass(frozen=True, slots=True)
class Wide:
    """Rows that hold a text of each of several systems, and perhaps what was said of it."""

    systems: Mapping[str, str]  # name of a system → what its columns are called after
    patterns: Mapping[str, str]  # new column → names it comes from, with {system} in them

    def section(self) -> dict[str, Any]:
        """Return the `wide` section of a table."""
        same = all(name == part for name, part in self.systems.items())
        systems = list(self.systems) if same else dict(self.systems)
        return {"systems": systems, "columns": dict(self.patterns)}


def wide_of(candidates: Sequence[Column], columns: Sequence[Column]) -> Wide:
    """Return the systems of several texts in a row, and the columns that each of them has."""
    names = [column.name for column in candidates]
    first, last = _shared(names), _shared([name[::-1] for name in names])
    parts = [name[len(first) : len(name) - len(last)] for name in names]
    if not all(parts):
        first, last, parts = "", "", names
    patterns = {CANDIDATE: f"{first}{{system}}{last[::-1]}"}
    every = {column.name for column in columns}
    for name in every - set(names):
        for part in sorted(parts, key=len, reverse=True):
            pattern = name.replace(part, "{system}", 1)
            if part in name and all(pattern.replace("{system}", p) in every for p in parts):
                new = words.slug(pattern.replace("{system}", ""), "judged")
                patterns.setdefault(new, pattern)
                break
    order = [column.name for column in columns]
    patterns = dict(
        sorted(patterns.items(), key=lambda e: order.index(e[1].replace("{system}", parts[0])))
    )
    return Wide(dict(zip((part.strip("_- .") for part in parts), parts, strict=True)), patterns)


def _shared(names: Sequence[str]) -> str:
    """Return the beginning that names share, up to the end of a word."""
    size = next((n for n, chars in enumerate(zip(*names, strict=False)) if len({*chars}) > 1), 0)
    while size and names[0][size - 1].isalnum():
        size -= 1
    return names[0][:size]


def split_columns(wide: Wide, columns: Sequence[Column]) -> tuple[list[Column], dict[str, str]]:
    """Return the columns of rows that were split, and old name → new name."""
    known = {column.name: column for column in columns}
    renamed = {
        pattern.replace("{system}", part): new
        for new, pattern in wide.patterns.items()
        for part in wide.systems.values()
    }
    found = []
    for column in columns:
        if column.name not in renamed:
            values = [value for value in column.values for _ in wide.systems]
            found.append(Column(column.name, column.path, 0, values, 1))
    found.append(Column(SYSTEM, (SYSTEM,), 0, [*wide.systems] * columns[0].rows, 0))
    for new, pattern in wide.patterns.items():
        own = [known[pattern.replace("{system}", part)].values for part in wide.systems.values()]
        values = [value for row in zip(*own, strict=True) for value in row]
        found.append(Column(new, (new,), 0, values, 0))
    return found, renamed


def tags_in(columns: Sequence[Column]) -> list[str]:
    """Return the tags around marked words in texts, e.g. <v> and </v>."""
    found = Counter(name for c in columns for cell in c.counts for name in {*_TAG.findall(cell)})
    texts = sum(len(column.counts) for column in columns)
    names = [name for name, n in found.items() if n >= _TAGGED * texts]
    return [tag for name in names for tag in (f"<{name}>", f"</{name}>")]


def aspect_columns(column: Column, judged: Column) -> Iterator[Column]:
    """Yield a column per aspect that another one names: what was judged under it."""
    for cell in column.counts:
        values = [
            value if str(name).strip() == cell.strip() else None
            for name, value in zip(column.values, judged.values, strict=True)
        ]
        yield Column(cell, (cell,), judged.level, values, 0)
