"""A fixture for a new source: invented texts in the shape of the file that was looked at.

Nothing is copied but what source.yaml states anyway: names of columns, systems, labels and
categories, and the ends of scales. The same guess gives the same bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nnd.converters.new_source.guess import ANNOTATOR, Column, Field, Guess, Measure
from nnd.converters.new_source.scaffold.code import chain_of
from nnd.converters.new_source.scaffold.facts import systems_of

_MOST_SYSTEMS = 4
_CONTEXTS = 3
_JUDGES = 3
_INVENTED = "invented"
_WHO = ("heron", "wren", "plover", "siskin", "dipper", "curlew", "bittern")
_WHAT = ("watches", "crosses", "avoids", "paints", "measures")
_WHERE = ("the old mill", "a frozen pond", "the ninth bridge", "an empty boat", "the salt garden")
_WHEN = ("before dawn", "in late autumn", "after the flood")


@dataclass(frozen=True, slots=True)
class _Place:
    """Which of the invented things is meant: numbers of context, candidate and judge."""

    context: int
    candidate: int
    judge: int


def invent(guess: Guess) -> list[dict[str, Any]] | dict[str, Any]:
    """Return invented objects in the shape of the file: rows of cells, or nested JSON.

    Every system of up to four writes for every context; which of them is the best changes from one
    context to the next, and the others are worse in as many ways as there are labels.
    """
    return _Inventor(guess).objects()


class _Inventor:
    """What a guess says of an invented object, kept together while it is laid out."""

    def __init__(self, guess: Guess) -> None:
        self.guess = guess
        self.chain = chain_of(guess.content, guess.level)
        self.systems = systems_of(guess.system)[:_MOST_SYSTEMS]
        self.candidates = max(len(self.systems), 2)
        errors = max(len(guess.quality.errors), 1)
        self.contexts = max(_CONTEXTS, -(-errors // (self.candidates - 1)))
        self.judges = _JUDGES if guess.is_repeated else 1
        self.columns = {(column.level, column.path): column for column in guess.columns}
        self.values = dict(self._roles())

    def _roles(self) -> Any:  # noqa: ANN401 - an iterator of columns and what they hold
        guess = self.guess
        for number, column in enumerate(guess.context):
            yield id(column), lambda at, part=number: _text(at.context * 7 + part)
        yield (
            id(guess.candidate),
            lambda at: _text(100 + at.context * self.candidates + at.candidate),
        )
        yield id(guess.system), lambda at: self.systems[at.candidate % len(self.systems)]
        for role, column in guess.keys.items():
            yield id(column), self._key(role, column)
        for measure in guess.measures:
            for number, column in enumerate(measure.columns):
                yield id(column), _Judged(self, measure, number)

    def _key(self, role: str, column: Column) -> Callable[[_Place], object]:
        known = list(column.counts)
        if role in ("category", "split"):
            return lambda at: known[at.context % len(known)]
        is_number = column.kind == "number"
        if role == "context_id":
            return lambda at: at.context + 1 if is_number else f"c{at.context + 1}"
        return lambda at: (
            at.context * self.candidates + at.candidate + 1
            if is_number
            else f"c{at.context + 1}-{at.candidate + 1}"
        )

    def objects(self) -> list[dict[str, Any]] | dict[str, Any]:
        """Lay the objects out as the file has them."""
        outermost = self.guess.content.levels[0]
        found = [self._object(0, place) for place in self._places(0)]
        if outermost.keyed:
            return {str(self._value(Field((), ()), 0, at)): made for at, made in found}
        made = [item for _, item in found]
        return made if self.guess.content.is_list else made[0]

    def _places(self, depth: int, around: _Place | None = None) -> list[_Place]:
        """Return where the objects of a level of the chain are."""
        levels = [column.level for column in self.guess.context]
        levels += [
            self.guess.keys[name].level for name in ("context_id",) if name in self.guess.keys
        ]
        contexts_at = max(self.chain.index(level) for level in levels)
        first = around or _Place(0, 0, 0)
        contexts = range(self.contexts) if depth == contexts_at else [first.context]
        is_last = depth == len(self.chain) - 1
        candidates = range(self.candidates) if is_last else [0]
        judges = range(self.judges) if is_last else [0]
        return [
            _Place(context, candidate, judge)
            for context in contexts
            for candidate in candidates
            for judge in judges
        ]

    def _object(self, depth: int, at: _Place) -> tuple[_Place, dict[str, Any]]:
        made: dict[str, Any] = {}
        level = self.chain[depth]
        for field in self.guess.content.levels[level].fields:
            if field.path:
                _put(made, field.path, self._value(field, level, at))
        for number, below in enumerate(self.guess.content.levels):
            if below.above != level:
                continue
            if number in self.chain:
                inner = [self._object(depth + 1, place) for place in self._places(depth + 1, at)]
            else:
                inner = self._list(number, at)
            items: Any = [item for _, item in inner]
            if below.keyed:
                items = {
                    str(self._value(Field((), ()), number, place)): item for place, item in inner
                }
            _put(made, below.path, items)
        return at, made

    def _list(self, level: int, at: _Place) -> list[tuple[_Place, dict[str, Any]]]:
        """Return the objects of a list that lies in a candidate: as many as there is to say."""
        found: list[tuple[_Place, dict[str, Any]]] = []
        fields = self.guess.content.levels[level].fields
        judged = [self.values.get(id(self.columns.get((level, field.path)))) for field in fields]
        said = [value(at) for value in judged if value is not None]
        for number in range(max((len(each) for each in said), default=0)):
            made: dict[str, Any] = {}
            for field, value in zip(fields, judged, strict=True):
                if value is not None:
                    _put(made, field.path, value(at)[number])
                elif field.path:
                    _put(made, field.path, self._value(field, level, at))
            found.append((at, made))
        return found

    def _value(self, field: Field, level: int, at: _Place) -> Any:  # noqa: ANN401 - as in the file
        """Return what an invented object has in a field, of the type that the file has there."""
        column = self.columns.get((level, field.path))
        if column is None or id(column) not in self.values:
            if not field.path:
                return f"c{at.context + 1}"
            return _unused(column or Column("", field.path, level, field.values, 0), at)
        value = self.values[id(column)](at)
        if column.kind == "texts" and column in self.guess.context:
            return [value, _text(at.context * 7 + 50)]
        return _typed(value, column) if field.path else str(value)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What an invented column of a measure says of a candidate."""

    inventor: _Inventor
    measure: Measure
    number: int

    def __call__(self, at: _Place) -> Any:  # noqa: ANN401 - as in the file
        column = self.measure.columns[self.number]
        if self.measure.kind in ("score", "ratings"):
            value = self._number(at, self.measure)
            is_list = column.kind == "numbers"
            return [value] * _JUDGES if is_list else value
        label = self._label(at)
        blank = self.inventor.guess.quality.blank
        match self.measure.kind:
            case "marks":
                return next(iter(column.counts)) if label == column.path[-1] else ""
            case "flags":
                return label == column.path[-1]
            case "tags":
                return [] if label == blank else [label]
            case "votes" if column.kind == "texts":
                return [label] * _JUDGES
        return "" if label == blank else label

    def _rank(self, at: _Place) -> int:
        return (at.candidate - at.context) % self.inventor.candidates

    def _label(self, at: _Place) -> str:
        quality, rank = self.inventor.guess.quality, self._rank(at)
        best, others = quality.rule.get("no_error"), list(quality.errors)
        if quality.rule["rule"] == "order":
            best, others = quality.rule["better"][0][0], [low for _, low in quality.rule["better"]]
        number = at.context * (self.inventor.candidates - 1) + rank - 1
        return str(best if rank == 0 else others[number % len(others)])

    def _number(self, at: _Place, measure: Measure) -> float:
        rule, rank = self.inventor.guess.quality.rule, self._rank(at)
        if rule["rule"] == "credit":
            chosen = rule["high"] if rank == 0 else rule["low"]
            return float(chosen[(rank - 1) % len(chosen) if rank else 0])
        numbers = [number for column in measure.columns for number in column.numbers]
        low, high = min(numbers), max(numbers)
        if rule["rule"] == "majority":
            return high if rank == 0 else low
        value = high - rank * (high - low) / (self.inventor.candidates - 1)
        whole = all(column.is_whole for column in measure.columns)
        return float(round(value)) if whole else round(value, 2)


def _unused(column: Column, at: _Place) -> Any:  # noqa: ANN401 - as in the file
    """Return what is in a column that nothing is read from, of the type that it has there."""
    match column.kind:
        case "number":
            return _typed(at.judge + 1 if column.words & ANNOTATOR else 0, column)
        case "flag":
            return False
        case "text":
            return f"judge-{at.judge + 1}" if column.words & ANNOTATOR else _INVENTED
        case "numbers" | "texts":
            return []
    return None


def _typed(value: Any, column: Column) -> Any:  # noqa: ANN401 - as in the file
    """Return a value as the type that a column has in the file: numbers there may be texts."""
    if isinstance(value, list) or value is None:
        return value
    lists = (found if isinstance(found, list) else [found] for found in column.values)
    example = next((item for found in lists for item in found if item is not None), "")
    if column.kind in ("text", "texts") or isinstance(example, str):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if value == "" or not isinstance(example, int | float):
        return None
    return value in (True, "true") if isinstance(example, bool) else type(example)(value)


def _put(made: dict[str, Any], path: Sequence[str], value: object) -> None:
    *around, last = path
    for key in around:
        made = made.setdefault(key, {})
    made[last] = value


def _text(number: int) -> str:
    """Return an invented sentence; of the first 525 numbers every one gives another."""
    words: list[str] = []
    for choices in (_WHO, _WHAT, _WHERE, _WHEN):
        number, place = divmod(number, len(choices))
        words.append(choices[place])
    return f"The {' '.join(words)}."
