"""What the columns of a file may be: its texts, contexts, systems, keys and judgements, by name."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.contents.reading_files import Content
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.name_words import more_is_better
from nnd.schemas import SourceError, check_known

MARKED = frozenset(["x", "✓", "✔", "1", "yes", "true"])
UNMARKED = frozenset(["0", "no", "false", "none", "-"])
"""Cells, in lower case, that mark an error and that say there is none."""

MOST_LABELS = 60
_LONGEST_LABEL = 60
_FEW = 10
_MOST_SYSTEMS = 200
_REPEATED = 1.5
_LONG = 20  # mean number of characters of a text that may be a candidate
_NO_TEXT = words.IDENTIFIER | words.LABEL | words.ANNOTATOR | words.SYSTEM | words.COMMENT
_NO_TEXT |= {"span", "spans", "url"}
_NO_NUMBER = words.IDENTIFIER | words.SYSTEM | words.SEVERITY
_NO_LABEL = _NO_NUMBER | words.ANNOTATOR | words.COMMENT | words.REFERENCE | words.SPLIT
_NO_LABEL |= words.LANGUAGE | {"text", "span", "start", "end", "note", "meta"}
_JUDGED = words.LABEL | words.BETTER | words.WORSE
_NAME_ONLY = words.SYSTEM | {"name", "id"}

_EVERY = re.compile(r"\[\]|\*")

FLAGS = ("context", "candidate", "system", "label", "score")
"""Roles that an option can give."""


@dataclass(frozen=True, eq=False)
class Roles:
    """The columns of a file, and what they may be if its rows are at the level of the candidate."""

    content: Content
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)  # role → paths, by options

    def __post_init__(self) -> None:
        """Refuse options that name no column."""
        for role, paths in self.given.items():
            check_known("column", paths, self.by_path, f"--{role}", family=SourceError)

    @cached_property
    def by_path(self) -> Mapping[str, Column]:
        """The columns of the file by their paths."""
        return {column.path: column for column in self.content.columns}

    def named(self, role: str) -> list[Column]:
        """Return the columns that an option gives a role."""
        return [self.by_path[path] for path in self.given.get(role, ())]

    @cached_property
    def candidates(self) -> list[Column]:
        """The generated text, or several that a row holds; empty if no name says so."""
        if given := self.named("candidate"):
            return given
        texts = [column for column in self.content.columns if _is_text(column)]
        named = [c for c in texts if c.words & words.CANDIDATE]
        plain = [c for c in named if not c.words & words.REFERENCE]
        answers = [c for c in texts if c.words == {"answer"}]
        judged = _judged_each(texts, self.content.columns)
        sure = plain or named or answers or judged or _family(texts)
        chosen = sure or [c for c in texts if c.level and self._judged_at(c)]
        if not chosen:
            return []
        deepest = max(chosen, key=lambda c: (self._judged_at(c), len(_EVERY.findall(c.level))))
        found = [column for column in chosen if column.level == deepest.level]
        return found if sure else found[:1]

    def _judged_at(self, column: Column) -> bool:
        return any(
            other.level.startswith(column.level)
            and (is_label(other) or is_score(other))
            and not other.words & words.CANDIDATE
            for other in self.content.columns
        )

    @cached_property
    def level(self) -> str:
        """The level of the rows: that of the candidates."""
        return self.candidates[0].level if self.candidates else ""

    @cached_property
    def row_columns(self) -> list[Column]:
        """The columns with one value in a row: those of its level and of those that hold it."""
        return [column for column in self.content.columns if self.level.startswith(column.level)]

    @cached_property
    def inner_columns(self) -> list[Column]:
        """The columns of lists in a row."""
        inner = (c for c in self.content.columns if c.level.startswith(self.level))
        return [column for column in inner if column.level != self.level]

    def free(self, *taken: Iterable[Column]) -> list[Column]:
        """Return the columns of rows that are neither candidates nor `taken`."""
        used = [*self.candidates, *(column for columns in taken for column in columns)]
        return [column for column in self.row_columns if column not in used]

    @cached_property
    def systems(self) -> list[Column]:
        """The columns that may name the system, the likeliest first."""
        if given := self.named("system"):
            return given
        able = [
            column
            for column in self.free()
            if column.kind == "text"
            and column.is_full
            and column.length <= _LONGEST_LABEL
            and len(column.counts) <= min(_MOST_SYSTEMS, max(len(column.values) / _REPEATED, 1))
            and len(column.counts) > 1
            and column.words & (words.SYSTEM | {"source", "setup"})
        ]
        plain = [column for column in able if column.words & words.SYSTEM]
        return sorted(plain or able, key=lambda column: not column.words <= _NAME_ONLY)

    @cached_property
    def contexts(self) -> list[Column]:
        """The parts of the context by their names."""
        return self.named("context") or [
            column
            for column in self.free(self.systems)
            if column.kind == "text"
            and not column.all_words & words.REFERENCE
            and not column.words & _NO_TEXT
            and not self.is_of_sibling(column)
            and column.words & words.CONTEXT
            and not column.words & words.CANDIDATE
            and column.has_spaces
        ]

    @cached_property
    def possible_contexts(self) -> list[Column]:
        """Other long texts of a row."""
        return [
            column
            for column in self.free(self.systems, self.contexts)
            if column.kind == "text"
            and column.length >= _LONG
            and len(column.counts) > _FEW
            and column.has_spaces
            and not column.words & (words.ERROR | words.COMMENT)
            and not column.all_words & words.REFERENCE
        ]

    @property
    def has_texts_as_keys(self) -> bool:
        """Whether the keys of the outermost object are texts."""
        keys = (key for record in self.content.records for key in record)
        return self.level.startswith("*") and any(" " in key for key in keys)

    @cached_property
    def references(self) -> list[Column]:
        """The texts that are good answers by their names: never a context."""
        columns = [*self.free(self.contexts, self.systems), *self.inner_columns]
        return [c for c in columns if c.kind == "text" and c.all_words & words.REFERENCE]

    def first(
        self, kinds: frozenset[str], fits: Callable[[Column], bool] | None = None
    ) -> Column | None:
        """Return the first free short column with one of some words in its name."""
        free = self.free(self.systems, self.contexts, self.references)
        able = (c for c in free if c.words & kinds and not self.is_of_sibling(c) and c.counts)
        return next((column for column in able if fits is None or fits(column)), None)

    @cached_property
    def context_id(self) -> Column | None:
        """The key of contexts: each of its values belongs to one context."""
        parts = [column.values for column in self.contexts if column.level == self.level]
        near = {column.level for column in self.contexts}
        other = words.ANNOTATOR | words.SYSTEM | words.CANDIDATE

        def fits(column: Column) -> bool:
            if column.words & other or not column.is_full or column.kind == "flag":
                return False
            if column.level != self.level:
                return column.level in near and column.repetition == 1
            if not parts or column.repetition < _REPEATED:
                return False
            keyed = {*zip(column.values, zip(*parts, strict=True), strict=True)}
            return len(keyed) == len({*column.values})

        return self.first(words.IDENTIFIER, fits)

    @cached_property
    def annotator(self) -> Column | None:
        """The column of who judged, if a candidate is in several rows."""
        own = [*self.candidates, *self.contexts, *self.systems[:1]]
        if not self.is_repeated(own):
            return None
        files = self.content.file_column
        by_file = files is not None and not self.level and not self.is_repeated([*own, files])
        return self.first(words.ANNOTATOR, lambda c: c.is_full) or (files if by_file else None)

    def is_repeated(self, columns: Iterable[Column]) -> bool:
        """Say whether two rows have the same values; those above are of the outermost object."""
        own = [column for column in columns if column.level == self.level]
        above = [own[0].owners] if self.level and own else []
        rows = list(zip(*above, *(column.values for column in own), strict=True))
        return len({*map(str, rows)}) < len(rows)

    @cached_property
    def judged(self) -> list[Column]:
        """The columns of a row that say how good a candidate is: labels, or else numbers."""
        if given := [*self.named("label"), *self.named("score")]:
            return given
        free = [c for c in self._judgements(self.row_columns) if c.level == self.level]
        scores = [c for c in free if is_score(c)]
        scales = {(min(c.numbers), max(c.numbers)) for c in scores}
        alike = [
            column
            for column in free
            if column.kind == "number"
            and not column.words & (_NO_NUMBER | words.COUNTED | words.ANNOTATOR)
            and (min(column.numbers), max(column.numbers)) in scales
        ]
        unclear = [c for c in free if c.words & words.LABEL and 1 < len(c.counts) <= _FEW]
        return [c for c in free if is_label(c)] or alike or scores or unclear

    @cached_property
    def listed(self) -> list[Column]:
        """The columns of lists in a row that say how good its candidate is."""
        given = [*self.named("label"), *self.named("score")]
        inner = given or self._judgements(self.inner_columns)
        inner = [column for column in inner if column in self.inner_columns]
        kinds = [c for c in inner if c.words & words.LABEL and c.kind == "number"]
        labels = inner if given else [c for c in inner if is_label(c)] or kinds
        return labels or [c for c in inner if is_score(c)]

    def _judgements(self, columns: Iterable[Column]) -> list[Column]:
        used = [
            *self.candidates,
            *self.contexts,
            *self.systems[:1],
            self.context_id,
            self.annotator,
        ]
        return [c for c in columns if c not in used and not self.is_of_sibling(c)]

    @cached_property
    def marks(self) -> list[Column]:
        """Several columns of marks, one for each error."""
        cells = MARKED | UNMARKED
        used = [*self.contexts, *self.systems[:1]]
        own = self.named("label") or [c for c in self.row_columns if c not in used]
        found = [
            column
            for column in own
            if column.counts
            and {cell.strip().lower() for cell in column.counts} <= cells
            and more_is_better([column]) is not True
            and (column.kind != "number" or column.words & words.ERROR)
            and not column.words & words.SPLIT
            and (column.kind != "number" or not column.words & words.IDENTIFIER)
        ]
        return found if len(found) > 1 else []

    def is_of_sibling(self, column: Column) -> bool:
        """Say whether a column is in the object of another text, beside the candidate's object."""
        if not self.candidates or column.level != self.level:
            return False
        own, holder = self.candidates[0].holder, column.holder
        if own.startswith(holder) or holder.startswith(own) or holder == self.level:
            return False
        return any(other.holder == holder and _is_text(other) for other in self.content.columns)


def _judged_each(texts: Sequence[Column], columns: Sequence[Column]) -> list[Column]:
    """Return texts that each have a column of numbers, named alike: `heron` and `credit-heron`."""
    found: dict[str, list[Column]] = {}
    for text in texts:
        for column in columns:
            if column.kind == "number" and text.path in column.path:
                found.setdefault(column.path.replace(text.path, "{system}", 1), []).append(text)
    largest = max(found.values(), key=len, default=[])
    return largest if len(largest) > 1 else []


def _family(texts: Sequence[Column]) -> list[Column]:
    """Return texts whose paths differ in one part only, such as the name of a system."""
    found: dict[str, list[Column]] = {}
    for column in texts:
        for part in re.finditer(r"[^._\W]+", column.path):
            pattern = f"{column.path[: part.start()]}{{system}}{column.path[part.end() :]}"
            found.setdefault(pattern, []).append(column)
    largest = max(found.values(), key=len, default=[])
    is_long = all(column.length >= _LONG for column in largest)
    return largest if len(largest) > 1 and is_long else []


def is_label(column: Column) -> bool:
    """Say whether a column is one of labels, by its name and cells."""
    return (
        column.kind in ("text", "flag")
        and (column.repetition >= _REPEATED or column.level != "")
        and 1 <= len(column.counts) <= MOST_LABELS
        and max(map(len, column.counts)) <= _LONGEST_LABEL
        and bool(column.words & _JUDGED)
        and not column.words & _NO_LABEL
    )


def is_unclear(column: Column) -> bool:
    """Say whether a column of numbers may be one of labels, such as 0 and 1."""
    return bool(column.words & words.LABEL) and not column.words & words.BETTER


def is_score(column: Column) -> bool:
    """Say whether a column is one of numbers of which more is clearly better, or worse."""
    is_who = column.words & words.ANNOTATOR and not column.words & words.SCORE
    if column.kind != "number" or is_who or column.words & _NO_NUMBER or len(column.counts) < 2:  # noqa: PLR2004
        return False
    return more_is_better([column]) is not None


def _is_text(column: Column) -> bool:
    is_output = bool(column.words & words.CANDIDATE)  # a "model output" is no model
    return (
        column.kind == "text"
        and len(column.counts) > 1
        and column.path != ""
        and not column.words & (_NO_TEXT - words.SYSTEM if is_output else _NO_TEXT)
        and (is_output or not column.words & words.REFERENCE)
        and column.has_spaces
    )
