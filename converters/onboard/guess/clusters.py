"""What several contexts share, by the columns of a file: a paragraph, a document, a dialogue.

It is `cluster` in source.yaml: an input part that several contexts have, or a fact of the metadata.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nnd.converters.check import contexts_alike
from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.draft import Draft
from nnd.schemas import counted, listed

_MOST = 0.5
"""Share of the text of contexts, and of the contexts, as in the check of shared texts."""

_PARTS = 2
_NEARLY = 1.1
"""Most values for each context of a column that may be above contexts."""


class _Rows(NamedTuple):
    """The contexts of a file.

    Attributes:
        parts: Input part → its text in each row.
        contexts: The number of the context of each row, from 0 on.
        like: A column of the level of these rows.
    """

    parts: Mapping[str, Sequence[str]]
    contexts: Sequence[int]
    like: Column

    @property
    def n(self) -> int:
        """The number of contexts."""
        return len({*self.contexts})


def propose_cluster(draft: Draft) -> None:
    """Say in a draft what several contexts share, if the columns show it."""
    rows = _contexts_of(draft)
    if rows is None:
        return
    values = {column: len(held) for column, held in _facts_of(draft, rows)}
    columns = [column for column, n in values.items() if n == rows.n]
    named = [column for column in columns if _is_named(column)]
    nearly = [c for c, n in values.items() if _is_named(c) and rows.n < n <= _NEARLY * rows.n]
    if named:
        first, *others = sorted(named, key=lambda c: (not _is_id(c), len(c.counts)))
        _declare(draft, first)
        if others:
            draft.note("cluster", "contexts with the same one are dependent; or one of", others)
    elif (part := _shared_part(rows)) is not None:
        draft.cluster = part
        n = len({*rows.parts[part]})
        text = f"{rows.n:,} contexts have {n:,} different ones, so that intervals are over these"
        draft.note("cluster", f"{text}; delete the line if it is an instruction")
    elif nearly:
        _note_on_contexts(
            draft,
            f"some texts are in several {listed([c.path for c in nearly])}; if contexts of one are "
            "dependent, tell these texts apart by a `context_id` under `columns`, name the column "
            "under `metadata`, and that fact in a line `cluster: FACT`",
        )
    else:
        _look_at_texts(draft, rows, columns)


def _look_at_texts(draft: Draft, rows: _Rows, columns: Sequence[Column]) -> None:
    """Say that contexts share most of their text, and which column may tell which ones."""
    first = {context: at for at, context in reversed([*enumerate(rows.contexts)])}
    texts = ["\n".join(part[at] for part in rows.parts.values()) for at in first.values()]
    alike = contexts_alike(texts)
    if not alike:
        return
    groups = len(texts) - sum(len(group) - 1 for group in alike)
    numbers, n = [*first], counted(sum(map(len, alike)), "context")
    for column in sorted(columns, key=lambda c: len(c.counts), reverse=True):
        value = dict(zip(rows.contexts, _aligned(column, rows.like) or (), strict=True))
        together = all(len({value[numbers[at]] for at in group}) == 1 for group in alike)
        if together and len(column.counts) >= _MOST * groups:
            _declare(draft, column)
            draft.note("cluster", f"{n} share half of their text or more with another one")
            return
    _note_on_contexts(
        draft,
        f"{n} share half of their text or more with another one; if a column says which, "
        "name it under `metadata`, and that fact in a line `cluster: FACT`",
    )


def _note_on_contexts(draft: Draft, text: str) -> None:
    place = "inputs"
    draft.notes[place] = "; ".join([*([draft.notes[place]] if place in draft.notes else []), text])


def _declare(draft: Draft, column: Column) -> None:
    name = words.slug(column.name, "document")
    while name in draft.table.get("inputs", {}):
        name = f"{name}_"
    draft.part("metadata")[name] = column.path
    draft.cluster = name


def _contexts_of(draft: Draft) -> _Rows | None:
    """Return the contexts of the rows, if columns of the file are their parts."""
    by_path = draft.roles.by_path
    columns = {part: by_path.get(path) for part, path in draft.table.get("inputs", {}).items()}
    found = {part: column for part, column in columns.items() if column is not None}
    if not found or len(found) < len(columns):
        return None
    like = max(found.values(), key=lambda column: len(column.level))
    values = {part: _aligned(column, like) for part, column in found.items()}
    parts = {part: [*map(str, own)] for part, own in values.items() if own is not None}
    if len(parts) < len(found):
        return None
    key = draft.roles.context_id
    keys = None if key is None else _aligned(key, like)
    rows = [*zip(*parts.values(), *([] if keys is None else [map(str, keys)]), strict=True)]
    numbers = {row: number for number, row in enumerate(dict.fromkeys(rows))}
    return _Rows(parts, [numbers[row] for row in rows], like)


def _aligned(column: Column, like: Column) -> Sequence[Any] | None:
    """Return a value of a column for each of another one, whose objects it holds; None if unknown.

    Those of the outermost objects are known for all that these hold.
    """
    if column.level == like.level:
        return column.values if len(column.values) == len(like.values) else None
    is_outer = [*column.owners] == [*range(len(column.values))]
    if not is_outer or not like.level.startswith(column.level):
        return None
    return [column.values[owner] for owner in like.owners]


def _facts_of(draft: Draft, rows: _Rows) -> Iterator[tuple[Column, set[tuple[int, str]]]]:
    """Yield columns of fewer short values than contexts, each with its values by context."""
    roles = draft.roles
    used = [*roles.candidates, *roles.contexts, *roles.systems, *roles.judged, *roles.references]
    for column in roles.row_columns:
        if column in used or column.kind == "flag" or column.length > words.SHORT:
            continue
        values = _aligned(column, rows.like)
        if values is None or any(value in (None, "") for value in values):
            continue
        held = {*zip(rows.contexts, map(str, values), strict=True)}
        if 1 < len({value for _, value in held}) < rows.n:
            yield column, held


def _is_named(column: Column) -> bool:
    """Say whether the name of a column says that it is above contexts."""
    no = words.COUNTED | words.SPLIT | words.ANNOTATOR | words.LABEL | words.SCORE | words.LANGUAGE
    return bool(column.words & words.ABOVE_CONTEXT) and not column.words & no


def _is_id(column: Column) -> bool:
    return any(word.endswith("id") for word in column.words)


def _shared_part(rows: _Rows) -> str | None:
    """Return the part that is most of the text, and that several contexts have."""
    if len(rows.parts) < _PARTS:
        return None
    each = dict.fromkeys(zip(rows.contexts, *rows.parts.values(), strict=True))
    _, *texts = zip(*each, strict=True)
    by_part = dict(zip(rows.parts, texts, strict=True))
    lengths = {part: sum(map(len, own)) for part, own in by_part.items()}
    longest = max(lengths, key=lambda part: lengths[part])
    held = Counter(by_part[longest])
    is_shared = 1 < len(held) < len(each) and max(held.values()) <= _MOST * len(each)
    return longest if is_shared and lengths[longest] >= _MOST * sum(lengths.values()) else None
