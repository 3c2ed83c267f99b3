"""Rows that are not one candidate each: pairs with a verdict, a text per system, spans."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.questions import Answers, Ask, Question, ask_for
from nnd.schemas import SourceError

TIE = "tie"
SYSTEM, CANDIDATE = "_system", "candidate"
"""Names of the columns of split rows."""

_MOST_VERDICTS = 10
_TAGGED = 0.1  # of the texts
_TAG = re.compile(r"<(\w+)>[^<>]+</\1>")


@dataclass(frozen=True, slots=True)
class Pair:
    """Rows that hold two texts, of which the first is better unless a verdict says otherwise."""

    sides: tuple[Column, Column]
    systems: tuple[Column, ...]  # that name the system of each, if any
    verdict: Column | None
    values: Mapping[str, str]  # cell of the verdict → `first`, `second` or `tie`


def pair_of(
    sides: Sequence[Column], columns: Sequence[Column], answers: Answers, ask: Ask | None
) -> Pair | None:
    """Return how the better of two texts is stated; None if each is judged by itself."""
    if answers.label or answers.score or answers.rating or answers.mark:
        return None
    one, other = sides
    rest = [column for column in columns if column not in sides]
    few = [c for c in rest if c.above == 0 and c.is_short and 1 < len(c.counts) <= _MOST_VERDICTS]
    names = tuple(column.name for column in (*sides, *few))
    better = answers.better
    if better is None:
        text = f"Which of {one.name} and {other.name} is better?"
        why = "name the column of the better text, or of the verdict; where each text is judged "
        why += "by itself, name its columns with --score or --label instead"
        (better,) = ask_for(Question("better", text, names, why), ask)
    systems = tuple(
        column
        for side, against in ((one, other), (other, one))
        for column in rest
        if column.words & words.SYSTEM and column.words & (side.words - against.words)
    )
    systems = systems if len(systems) == len(sides) else ()
    if better == one.name:
        return Pair((one, other), systems, None, {})
    if better == other.name:
        return Pair((other, one), systems[::-1], None, {})
    verdict = next((column for column in rest if column.name == better), None)
    if verdict is None:
        listed = ", ".join(names)
        raise SourceError(f"--better: unknown column {better}; it may be one of {listed}")
    return Pair((one, other), systems, verdict, _values(verdict, (one, other), answers, ask))


def _values(
    verdict: Column, sides: tuple[Column, Column], answers: Answers, ask: Ask | None
) -> dict[str, str]:
    names = {sides[0].name: "first", sides[1].name: "second", TIE: TIE}
    named = {cell: cell for cell in verdict.counts}
    named |= dict(entry.partition("=")[::2] for entry in answers.verdict)
    left = [cell for cell in verdict.counts if named[cell] not in names]
    usage = " ".join(f"--verdict {cell}=COLUMN" for cell in left)
    usage += f", where COLUMN is {', '.join(names)}"
    for cell in left:
        text = f"What does the verdict {cell} under {verdict.name} mean?"
        question = Question("verdict", text, tuple(names), "it names neither text", usage=usage)
        (named[cell],) = ask_for(question, ask)
    return {cell: names[named[cell]] for cell in verdict.counts}


@dataclass(frozen=True, slots=True)
class Wide:
    """Rows that hold a text of each of several systems, and perhaps its judgements."""

    systems: Mapping[str, str]  # name of a system → its part in the names of columns
    patterns: Mapping[str, str]  # new column → names of its columns, with {system} in them

    @property
    def renamed(self) -> dict[str, str]:
        """Column of the file → column of the split rows."""
        return {
            pattern.replace("{system}", part): new
            for new, pattern in self.patterns.items()
            for part in self.systems.values()
        }

    def section(self) -> dict[str, Any]:
        """Return the `wide` section of a table."""
        same = all(name == part for name, part in self.systems.items())
        systems = list(self.systems) if same else dict(self.systems)
        return {"systems": systems, "columns": dict(self.patterns)}


def wide_of(candidates: Sequence[Column], columns: Sequence[Column]) -> Wide:
    """Return the systems of rows with several texts, and the columns of each system."""
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
    """Return the common beginning of names, up to the end of a word."""
    size = next((n for n, chars in enumerate(zip(*names, strict=False)) if len({*chars}) > 1), 0)
    while size and names[0][size - 1].isalnum():
        size -= 1
    return names[0][:size]


def split_columns(wide: Wide, columns: Sequence[Column]) -> list[Column]:
    """Return the columns of rows that were split."""
    known = {column.name: column for column in columns}
    found = []
    for column in columns:
        if column.name not in wide.renamed:
            values = [value for value in column.values for _ in wide.systems]
            found.append(Column(column.name, column.path, 0, values, 1))
    found.append(Column(SYSTEM, (SYSTEM,), 0, [*wide.systems] * columns[0].rows, 0))
    for new, pattern in wide.patterns.items():
        own = [known[pattern.replace("{system}", part)].values for part in wide.systems.values()]
        values = [value for row in zip(*own, strict=True) for value in row]
        found.append(Column(new, (new,), 0, values, 0))
    return found


def tags_in(columns: Sequence[Column]) -> list[str]:
    """Return the tags around marked words in texts, e.g. <v> and </v>."""
    found = Counter(name for c in columns for cell in c.counts for name in {*_TAG.findall(cell)})
    texts = sum(len(column.counts) for column in columns)
    names = [name for name, n in found.items() if n >= _TAGGED * texts]
    return [tag for name in names for tag in (f"<{name}>", f"</{name}>")]


def without_tags(text: str, tags: Sequence[str]) -> str:
    """Return a text without tags, keeping the words between them."""
    return re.sub("|".join(map(re.escape, tags)), "", text) if tags else text


def aspect_columns(column: Column, judged: Column) -> Iterator[Column]:
    """Yield a column of judgements for each aspect that another column names."""
    for cell in column.counts:
        values = [
            value if str(name).strip() == cell.strip() else None
            for name, value in zip(column.values, judged.values, strict=True)
        ]
        yield Column(cell, (cell,), judged.level, values, 0)
