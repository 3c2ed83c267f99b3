"""Which parts of a file are not read, and which option would read them."""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence

from nnd.converters.onboard.contents.level_columns import Column, words_of
from nnd.converters.onboard.contents.levels import alike_objects
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.guessing import Guess, every_column
from nnd.converters.onboard.guess.measures import MOST_LABELS

_LONG = 40  # mean number of characters from which a column holds texts
_MOST_LISTED = 12
_NUMBERS = ("number", "numbers")


def not_read(guess: Guess) -> Iterator[str]:
    """Yield sentences on what is not read: lists, similar fields, aspects, labels, texts, keys."""
    read = guess.read
    left = [*(column for column in guess.columns if column not in read), *_elsewhere(guess)]
    yield from guess.content.notes
    for title, remedy, fits in _groups(guess):
        found = [column for column in left if fits(column)]
        left = [column for column in left if column not in found]
        if found:
            yield f"Not read: {title}: {_listed(found)}; {remedy}."
    if left:
        yield f"Not read: {_listed(left)}."
    if keyed := alike_objects(guess.content.levels):
        options = " or ".join(f"--each {path}" for path in keyed)
        yield f"Alike objects are under different keys; {options} reads each of them."
    if guess.tags and not guess.is_spans:
        yield f"Texts have tags, which stay in them: {', '.join(guess.tags)}."


def _elsewhere(guess: Guess) -> list[Column]:
    seen = {(column.level, column.path) for column in guess.columns}
    is_split = guess.wide is not None or bool(guess.tags)
    return [
        column
        for column in every_column(guess.content)
        if (column.level, column.path) not in seen
        and not (is_split and column.level == guess.level)
    ]


def _groups(guess: Guess) -> Iterator[tuple[str, str, Callable[[Column], bool]]]:
    read = guess.read
    measured = [column for measure in guess.measures for column in measure.columns]
    scales = {_scale(column) for column in measured if column.kind in _NUMBERS}
    yield (
        "the fields are those of something that is read",
        "read them too where they hold candidates or judgements",
        lambda column: any(_is_sibling(column, other) for other in read),
    )
    yield (
        "the numbers are on the scale of what was chosen",
        "if they are aspects, name them with --score, too",
        lambda column: _is_number(column) and _scale(column) in scales,
    )
    yield "numbers", "judgements go by --score or --rating", _is_number
    yield "few values", "labels go by --label or --error", _is_label
    yield (
        "texts",
        "--context or --candidate reads them, and --group compares within them",
        lambda column: column.kind in ("text", "texts") and column.length >= _LONG,
    )
    yield (
        "keys",
        "--context-id, --candidate-id or --group reads them",
        lambda column: bool(column.words & words.IDENTIFIER),
    )


def _is_sibling(column: Column, other: Column) -> bool:
    """Say whether full names differ in one part only, of fields below objects or with digits."""
    one, two = column.name.split("."), other.name.split(".")
    differ = [a for a, b in zip(one, two, strict=False) if a != b]
    ends = ([w for w in words_of(name[-1]) if not w.isdigit()] for name in (one, two))
    return len(one) == len(two) and len(differ) == 1 and operator.eq(*ends)


def _is_number(column: Column) -> bool:
    return column.kind in _NUMBERS and not column.words & words.IDENTIFIER


def _scale(column: Column) -> tuple[float, float]:
    return min(column.numbers), max(column.numbers)


def _is_label(column: Column) -> bool:
    is_text = column.kind in ("text", "texts", "flag") and column.is_short
    other = words.IDENTIFIER | words.SPLIT | words.CATEGORY - {"category"}
    few = min(MOST_LABELS, len(column.cells) // 2)
    return is_text and 1 < len(column.counts) <= few and not column.words & other


def _listed(columns: Iterable[Column]) -> str:
    """Return names with numbers of values; fields of one object are listed together."""
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
