"""Which columns say how good a candidate is: labels, marks of errors, scores, ratings.

Only what names and cells say plainly is taken; what else may be a judgement is listed as not read.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from nnd.converters.contents import Column, words_of
from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.direction import good_label, more_is_better
from nnd.converters.new_source.guess.questions import Answers, Ask, Question, ask_for
from nnd.schemas import SourceError

MeasureKind: TypeAlias = Literal["label", "tags", "marks", "score", "ratings"]

MOST_LABELS = 60
MARKS = frozenset(["x", "X", "✓", "✔", "1", "yes", "Yes", "true", "True"])
"""Cells that say that an error is there."""

_KINDS: dict[str, MeasureKind] = {"number": "score", "numbers": "ratings", "texts": "tags"}
_OF_ERROR = frozenset(["type", "label", "category", "tag", "error", "kind", "class", "name"])
_REPEATED = 1.5
_RANGE = re.compile(r"\s*\(\d+\s*(-|\u2013|to)\s*\d+\)$")
_NO_LABEL = (
    words.ANNOTATOR
    | words.COMMENT
    | words.REFERENCE
    | words.SPLIT
    | words.IDENTIFIER
    | words.SYSTEM
    | words.LANGUAGE
)


@dataclass(frozen=True, slots=True)
class Measure:
    """What was judged, and where.

    Attributes:
        aspect: Name of the aspect.
        kind: label: one column of a label. tags: a list of labels per candidate. marks: columns
            that are marked where an error is. score: one number. ratings: numbers of several
            annotators.
        columns: Its columns; one but for marks and ratings.
    """

    aspect: str
    kind: MeasureKind
    columns: tuple[Column, ...]

    @property
    def has_labels(self) -> bool:
        """Whether it has labels, rather than numbers."""
        return self.kind not in ("score", "ratings")


def measure_of(column: Column) -> Measure:
    """Return a column as an aspect of its own: a score if it holds numbers, else a label."""
    return Measure(_aspect(column), _KINDS.get(column.kind, "label"), (column,))


def _aspect(column: Column) -> str:
    if column.above < 0 and column.words & _OF_ERROR:
        return words.slug(column.name.split(".")[-len(column.path) - 1], "quality")
    return words.slug(_RANGE.sub("", column.path[-1]), "quality")


def find_measures(columns: Sequence[Column], ask: Ask | None) -> list[Measure]:
    """Return what says how good a candidate is, of columns that are nothing else.

    Returns:
        Of lists of labels, marks, labels and numbers the first that there are, one per aspect: a
        second list of annotators is not read.
    """
    near = [column for column in columns if column.above <= 0 and column.kind != "empty"]
    found = _lists(near) or _marks(near) or _labels(near) or _numbers(near, ask)
    return list({measure.aspect: measure for measure in reversed(found)}.values())[::-1]


def chosen_measures(
    named: Callable[[str, Sequence[str]], list[Column]], answers: Answers
) -> list[Measure]:
    """Return the measures of columns that the user named.

    Args:
        named: Returns the columns of an option by their names.
        answers: What the user named.

    Raises:
        SourceError: If a score or a rating is not a number, or a label not text.
    """
    labels, marks, scores, ratings = (
        named(flag, getattr(answers, flag)) for flag in ("label", "mark", "score", "rating")
    )
    for column in (*scores, *ratings):
        if column.kind not in ("number", "numbers"):
            odd = next((cell for cell in column.cells if not cell.strip().isdigit()), "")[:40]
            raise SourceError(
                f"{column.name}: holds something other than numbers, e.g. {odd!r}; name another "
                "column with --score or --rating, take it with --label, or correct such cells in a "
                "copy of the file"
            )
    for column in labels:
        if column.kind not in ("text", "texts", "flag", "number"):
            raise SourceError(
                f"{column.name}: its cells are not labels ({column.kind}); name another column "
                "with --label"
            )
    kinds: dict[str, MeasureKind] = {"texts": "tags"}
    found = [Measure(_aspect(c), kinds.get(c.kind, "label"), (c,)) for c in labels]
    found += [Measure("errors", "marks", tuple(marks))] if marks else []
    found += [measure_of(column) for column in scores]
    found += [Measure(_shared(ratings), "ratings", tuple(ratings))] if ratings else []
    names = Counter(measure.aspect for measure in found)
    return [
        replace(measure, aspect=words.slug(measure.columns[0].name, "quality"))
        if names[measure.aspect] > 1
        else measure
        for measure in found
    ]


def _lists(columns: Sequence[Column]) -> list[Measure]:
    """Find lists of labels, or of objects that have one: a list of errors, or the first."""
    found = [
        column
        for column in columns
        if column.kind == "texts"
        and column.is_short
        and len(column.counts) <= MOST_LABELS
        and column.all_words & (words.LABEL | {"span", "spans"})
        and not column.words & (words.ANNOTATOR | words.SEVERITY)
        and (column.above == 0 or column.words & _OF_ERROR)
    ]
    errors = [column for column in found if column.all_words & words.ERROR]
    return [measure_of(column) for column in (errors or found)[:1]]


def _marks(columns: Sequence[Column]) -> list[Measure]:
    """Find columns that are marked where an error is, and blank elsewhere."""
    found = [
        column
        for column in columns
        if column.above == 0
        and column.filled < column.rows
        and {cell.strip() for cell in column.counts} <= MARKS
        and len({cell.strip().lower() for cell in column.counts}) == 1
    ]
    is_marks = len(found) > 1 or any(column.words & words.ERROR for column in found)
    return [Measure("errors", "marks", tuple(found))] if is_marks else []


def _labels(columns: Sequence[Column]) -> list[Measure]:
    """Find few short texts that are named or worded like a judgement."""
    found = [
        column
        for column in columns
        if column.above == 0
        and column.kind in ("text", "flag")
        and column.is_short
        and not column.words & _NO_LABEL
        and 1 < len(column.counts) + (column.filled < column.rows) <= MOST_LABELS
    ]
    has_severity = any(column.words & words.SEVERITY for column in found)
    named = words.LABEL | words.SEVERITY | ({"category"} if has_severity else set())
    is_good = {column.name: good_label(list(column.counts), [column]) for column in found}
    found = [
        column
        for column in found
        if (column.words & named and len(column.counts) < column.rows)
        or ((column.words & words.SCORE or is_good[column.name]) and column.repetition >= _REPEATED)
    ]
    plain = [column for column in found if not column.words & words.SEVERITY] or found
    errors = [c for c in plain if is_good[c.name] or c.words & words.ERROR]
    return [measure_of(column) for column in errors or plain]


def _numbers(columns: Sequence[Column], ask: Ask | None) -> list[Measure]:
    """Find numbers whose name says that more of them is better."""
    groups: dict[tuple[str, ...], list[Column]] = {}
    for column in columns:
        is_who = column.words & words.ANNOTATOR and not column.words & words.SCORE
        other = words.IDENTIFIER | words.SYSTEM | words.SEVERITY
        is_number = column.kind in ("number", "numbers") and len(column.counts) > 1
        if is_number and not is_who and not column.words & other and more_is_better([column]):
            groups.setdefault(_stem(column), []).append(column)
    return [
        measure_of(group[0]) if len(group) == 1 else _rated(group, ask) for group in groups.values()
    ]


def _rated(group: Sequence[Column], ask: Ask | None) -> Measure:
    """Return columns whose names differ by who judged; by a number only, it is asked.

    Raises:
        SourceError: If it must be asked, or they are aspects of their own.
    """
    names = [column.name for column in group]
    if not all(column.all_words & words.ANNOTATOR for column in group):
        text = f"Are {', '.join(names)} the ratings of several annotators under one aspect?"
        each = f"--score {names[0]} … where each is an aspect of its own"
        usage = f"{' '.join(f'--rating {name}' for name in names)}, or {each}"
        why = "their names differ by a number only"
        question = Question("rating", text, ("yes", "no"), why, usage=usage)
        if ask_for(question, ask) == ("no",):
            raise SourceError(f"name them with {each}")
    return Measure(_shared(group), "ratings", tuple(group))


def _stem(column: Column) -> tuple[str, ...]:
    """Return what of a name does not say who: `fluency_2` and `rater2_fluency` are fluency."""
    *parents, last = column.name.split(".")
    if column.words & words.ASPECT:
        return (*parents, last)  # Q1 and Q2 are two questions
    parts = [part for part in words_of(last) if not part.isdigit()]
    is_who = any(part in words.ANNOTATOR for part in parts)
    return (*parents, *(p for p in parts if not is_who or (p not in words.ANNOTATOR and p[1:])))


def _shared(columns: Sequence[Column]) -> str:
    """Return what the names of several columns have in common, as the name of an aspect."""
    if len(columns) == 1:
        return _aspect(columns[0])
    names = [column.all_words - words.ANNOTATOR for column in columns]
    kept = [w for w in words_of(columns[0].name) if all(w in name for name in names)]
    return words.slug("_".join(kept), "quality")
