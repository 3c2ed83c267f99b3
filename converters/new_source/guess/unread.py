"""What of a file is not read, and which option would read it: nothing is left out in silence."""

from collections.abc import Iterable, Iterator, Sequence

from nnd.converters.contents import Column, alike_objects, words_of
from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.guessing import Guess, every_column
from nnd.converters.new_source.guess.measures import MOST_LABELS

_LONG = 40  # characters on average of what is a text
_MOST_LISTED = 12
_BY_TEXT = "contexts go by their text; --context-id, several times if need be, reads keys"
_NUMBERS = ("number", "numbers")


def not_read(guess: Guess) -> Iterator[str]:
    """Yield what is not read: lists, alike fields, aspects, labels, texts, keys, and the rest."""
    left = [*guess.unused, *_elsewhere(guess)]
    yield from guess.content.notes
    for title, columns, remedy in _groups(guess, left):
        left = [column for column in left if column not in columns]
        if columns:
            yield f"Not read: {title}: {_listed(columns)}; {remedy}."
    if left:
        yield f"Not read: {_listed(left)}."
    if keyed := alike_objects(guess.content.levels):
        options = " or ".join(f"--each {path}" for path in keyed)
        yield f"Alike objects are under different keys; {options} reads each of them."
    if guess.tags and not guess.is_spans:
        yield f"Texts have tags, which stay in them: {', '.join(guess.tags)}."


def _elsewhere(guess: Guess) -> list[Column]:
    """Return the fields of levels that no candidate sees: of lists beside or below."""
    seen = {(column.level, column.path) for column in guess.columns}
    is_split = guess.wide is not None or bool(guess.tags)
    return [
        column
        for column in every_column(guess.content)
        if (column.level, column.path) not in seen
        and not (is_split and column.level == guess.level)
    ]


def _groups(guess: Guess, left: Sequence[Column]) -> Iterator[tuple[str, list[Column], str]]:
    """Yield a title, the columns that it is about, and what reads them."""
    read = [column for column in guess.columns if column not in guess.unused]
    yield (
        "the fields are those of something that is read",
        [column for column in left if any(_is_sibling(column, other) for other in read)],
        "read them too where they hold candidates or judgements",
    )
    measured = [column for measure in guess.measures for column in measure.columns]
    scales = {_scale(column) for column in measured if column.kind in _NUMBERS}
    numbers = [c for c in left if c.kind in _NUMBERS and not c.words & words.IDENTIFIER]
    yield (
        "the numbers are on the scale of what was chosen",
        [column for column in numbers if _scale(column) in scales],
        "if they are aspects, name them with --score, too",
    )
    yield (
        "numbers",
        [column for column in numbers if _scale(column) not in scales],
        "judgements go by --score or --rating",
    )
    labels = [column for column in left if _is_label(column)]
    yield "few values", labels, "labels go by --label or --error"
    yield (
        "texts",
        [c for c in left if c.kind in ("text", "texts") and c.length >= _LONG],
        "--context or --candidate reads them, and --group compares within them",
    )
    keys = [c for c in left if c.words & words.IDENTIFIER]
    known = "context_id" in guess.keys
    yield "keys", keys, "--candidate-id or --group reads them" if known else _BY_TEXT


def _is_sibling(column: Column, other: Column) -> bool:
    """Say whether full names differ in one place only, of fields below objects or with digits."""
    one, two = column.name.split("."), other.name.split(".")
    differ = [a for a, b in zip(one, two, strict=False) if a != b]
    if len(one) != len(two) or len(differ) != 1:
        return False
    return one[-1] == two[-1] or _without_digits(one[-1]) == _without_digits(two[-1])


def _without_digits(name: str) -> list[str]:
    return [word for word in words_of(name) if not word.isdigit()]


def _scale(column: Column) -> tuple[float, float]:
    return min(column.numbers), max(column.numbers)


def _is_label(column: Column) -> bool:
    return (
        column.kind in ("text", "texts", "flag")
        and column.is_short
        and 1 < len(column.counts) <= min(MOST_LABELS, len(column.cells) // 2)
        and not column.words & (words.IDENTIFIER | words.SPLIT | words.CATEGORY - {"category"})
    )


def _listed(columns: Iterable[Column]) -> str:
    """Return names with how many values there are; fields of one object are listed together."""
    objects: dict[str, list[Column]] = {}
    for column in columns:
        objects.setdefault(column.name.rpartition(".")[0], []).append(column)
    found = []
    for around, inside in objects.items():
        if around and len(inside) > 2:  # noqa: PLR2004
            found.append(f"{around}.* ({len(inside)} fields, {_size(inside)})")
        else:
            found += [f"{column.name} ({_size([column])})" for column in inside]
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    return ", ".join(found[:_MOST_LISTED]) + more


def _size(columns: Sequence[Column]) -> str:
    n = sum(column.filled for column in columns)
    return f"{n:,} value{'s' if n != 1 else ''}"
