"""Finding the columns of candidate, system, context and keys by their names."""

from collections.abc import Sequence

from nnd.converters.onboard.contents.level_columns import Column, determines, joint
from nnd.converters.onboard.guess import name_words as words

_LONGEST_SYSTEM = 60
_REPEATED = 1.5
_MOST_SYSTEMS = 200
_NO_TEXT = words.IDENTIFIER | words.LABEL | words.ANNOTATOR | words.SYSTEM
_NO_SYSTEM = _NO_TEXT - words.SYSTEM | words.SPLIT | words.CATEGORY | words.LANGUAGE | words.SCORE
_NO_SYSTEM |= words.COUNTED | words.ASPECT | words.REFERENCE | words.CONTEXT | words.CANDIDATE


def likely_systems(columns: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """Return the columns that name systems by their names, and other possible ones."""
    able = [
        column
        for column in columns
        if column.above >= 0
        and column.kind in ("text", "number")
        and column.length <= _LONGEST_SYSTEM
        and 0 < len(column.counts) <= min(_MOST_SYSTEMS, max(column.rows / _REPEATED, 1))
    ]
    keys = [column for column in able if not column.path and column.above == 0]
    named = [c for c in able if c.words & words.SYSTEM and not c.words & words.CANDIDATE]
    plain = [column for column in named if column.words <= words.SYSTEM | {"name", "id"}]
    near = [column for column in able if column.above == 0 and column.kind == "text"]
    return plain or named or keys, [c for c in near if not c.words & _NO_SYSTEM]


def likely_candidates(columns: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """Return the columns that hold candidates by their names, and other possible ones."""
    texts = [
        column
        for column in columns
        if column.kind == "text" and column.above == 0 and column.path and len(column.counts) > 1
    ]
    named = [c for c in texts if c.words & words.CANDIDATE or c.words == {"answer"}]
    plain = [c for c in named if not c.words & (_NO_TEXT - words.SYSTEM)]
    may = [column for column in texts if not column.words & _NO_TEXT]
    return plain, may or texts


def likely_contexts(columns: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """Return the columns that are the context by their names, and other possible ones."""
    texts = [c for c in columns if c.kind in ("text", "texts") and c.above >= 0 and c.path]
    able = [
        column
        for column in texts
        if (column.kind == "text" or column.words & words.CONTEXT)
        and not column.all_words & words.REFERENCE
        and not column.words & _NO_TEXT
    ]
    near = [c for c in able if c.words & words.CONTEXT and not c.words & words.CANDIDATE]
    return [c for c in near if any(" " in text.strip() for text in c.counts)], able


def find_context_id(columns: Sequence[Column], context: Sequence[Column]) -> Column | None:
    """Return the column of context keys: each of its values belongs to one context."""
    other = words.ANNOTATOR | words.SYSTEM | words.CANDIDATE
    contexts = joint(context)
    named = [c for c in columns if (c.words & words.IDENTIFIER or not c.path) and c.above >= 0]
    found = (
        column
        for column in named
        if column.kind in ("text", "number")
        and not column.words & other
        and (column.above > 0 or column.repetition >= _REPEATED)
        and all(isinstance(value, str | int) for value in column.values)
        and determines(column.values, contexts)
    )
    return max(found, key=lambda column: len(column.counts), default=None)
