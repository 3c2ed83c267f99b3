"""Finding the columns that say how good a candidate is, and whether more of them is better.

Only columns with plain names are used; other possible judgements are asked about, or listed as not
read. `yes`, or a 5, is good for `fluent` and bad for `offensive`: a wrong guess here reverses every
pair, and the result looks plausible.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from nnd.converters.onboard.contents.level_columns import Column, words_of
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.questions import Answers, Ask, Question, ask_for
from nnd.schemas import SourceError

MeasureKind: TypeAlias = Literal["label", "tags", "marks", "score", "ratings"]

MOST_LABELS = 60
MARKS = frozenset(["x", "X", "✓", "✔", "1", "yes", "Yes", "true", "True"])
"""Cells that mark an error."""

_KINDS: dict[str, MeasureKind] = {"number": "score", "numbers": "ratings", "texts": "tags"}
_NUMBERS = ("number", "numbers")
_LABELS = ("text", "texts", "flag", "number")
_OF_ERROR = frozenset(["type", "label", "category", "tag", "error", "kind", "class", "name"])
_REPEATED = 1.5
_RANGE = re.compile(r"\s*\(\d+\s*(-|\u2013|to)\s*\d+\)$")
_JUDGED = words.LABEL | words.BETTER | words.WORSE | {"span", "spans"}
_NO_NUMBER = words.IDENTIFIER | words.SYSTEM | words.SEVERITY
_NO_LABEL = _NO_NUMBER | words.ANNOTATOR | words.COMMENT | words.REFERENCE | words.SPLIT
_NO_LABEL |= words.LANGUAGE

_NEGATING = ("in", "un", "dis", "non", "contra")
_HARMLESS = words.CONTEXT | words.IDENTIFIER


@dataclass(frozen=True, slots=True)
class Measure:
    """An aspect and its columns: one, or several for marks and for ratings of annotators."""

    aspect: str
    kind: MeasureKind
    columns: tuple[Column, ...]

    @property
    def has_labels(self) -> bool:
        """Whether it has labels, rather than numbers."""
        return self.kind not in ("score", "ratings")


def measure_of(column: Column) -> Measure:
    """Return a measure of one column: a score if it holds numbers, else a label."""
    return Measure(_aspect(column), _KINDS.get(column.kind, "label"), (column,))


def _aspect(column: Column) -> str:
    if column.above < 0 and column.words & _OF_ERROR:
        return words.slug(column.name.split(".")[-len(column.path) - 1], "quality")
    return words.slug(_RANGE.sub("", [column.name, *column.path][-1]), "quality")


def find_judged(columns: Sequence[Column]) -> list[Column]:
    """Return the columns whose names suggest judgements: a list, labels, or numbers."""
    several = [c for c in columns if c.kind == "texts" or len(c.counts) + (c.filled < c.rows) > 1]
    labels = [column for column in several if _is_label(column)]
    errors = [column for column in labels if column.all_words & words.ERROR] or labels
    lists = [column for column in errors if column.kind == "texts"]
    return lists[:1] or errors or [column for column in several if _is_number(column)]


def _is_label(column: Column) -> bool:
    is_single = column.above == 0 and column.kind in ("text", "flag")
    is_list = column.kind == "texts" and (column.above == 0 or bool(column.words & _OF_ERROR))
    named = column.all_words if is_list else column.words
    return (
        (is_list or (is_single and column.repetition >= _REPEATED))
        and column.is_short
        and len(column.counts) <= MOST_LABELS
        and bool(named & _JUDGED)
        and not column.words & _NO_LABEL
        and not {*column.counts} <= MARKS
    )


def _is_number(column: Column) -> bool:
    is_who = column.words & words.ANNOTATOR and not column.words & words.SCORE
    is_near = column.above <= 0 and column.kind in _NUMBERS
    is_other = is_who or column.words & _NO_NUMBER
    return is_near and not is_other and more_is_better([column]) is True


def chosen_measures(of: Mapping[str, Sequence[Column]]) -> list[Measure]:
    """Return the measures of the columns that options name."""
    labels, marks, scores, ratings = (of[flag] for flag in ("label", "mark", "score", "rating"))
    for column in (*scores, *ratings, *labels):
        kinds, what = (_LABELS, "labels") if column in labels else (_NUMBERS, "numbers")
        if column.kind not in kinds:
            odd = next((cell for cell in column.cells if not cell.strip().isdigit()), "")[:40]
            raise SourceError(
                f"{column.name}: holds something other than {what}, e.g. {odd!r}; name another "
                "column with --score, --rating or --label, or correct such cells in a copy of the "
                "file"
            )
    found = [Measure(_aspect(c), "tags" if c.kind == "texts" else "label", (c,)) for c in labels]
    found += [Measure("errors", "marks", tuple(marks))] if marks else []
    found += [measure_of(column) for column in scores]
    found += [Measure(_shared(ratings), "ratings", tuple(ratings))] if ratings else []
    return told_apart(found)


def told_apart(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures with distinct names of aspects."""
    names = Counter(measure.aspect for measure in measures)
    return [
        replace(measure, aspect=words.slug(measure.columns[0].name, "quality"))
        if names[measure.aspect] > 1
        else measure
        for measure in measures
    ]


def _shared(columns: Sequence[Column]) -> str:
    """Return the common part of the names of several columns, as the name of an aspect."""
    if len(columns) == 1:
        return _aspect(columns[0])
    names = [column.all_words - words.ANNOTATOR for column in columns]
    kept = [w for w in words_of(columns[0].name) if all(w in name for name in names)]
    return words.slug("_".join(kept), "quality")


def alike(columns: Sequence[Column]) -> list[Column]:
    """Return the columns of numbers whose names differ only by a number or an annotator."""

    def stem(column: Column) -> frozenset[str]:
        return frozenset(w for w in column.all_words - words.ANNOTATOR if not w.isdigit())

    stems = Counter(map(stem, columns))
    return [c for c in columns if _KINDS.get(c.kind) == "score" and stems[stem(c)] > 1]


def more_is_better(columns: Iterable[Column], answers: Answers | None = None) -> bool | None:
    """Return whether higher values of columns are better; None if the names do not say."""
    found = {_of_one(column, answers or Answers()) for column in columns}
    return found.pop() if len(found) == 1 else None


def _of_one(column: Column, answers: Answers) -> bool | None:
    if column.name in answers.higher or column.name in answers.lower:
        return column.name in answers.higher
    named = column.words if column.words & (words.WORSE | words.BETTER) else column.all_words
    if is_doubtful(column):
        return None
    if named & words.WORSE:
        return False
    return True if named & words.BETTER else None


def is_doubtful(column: Column) -> bool:
    """Say whether a name may mean the opposite of its words, or has no direction."""
    doubtful = words.DENIED | words.COUNTED
    return bool(column.words & doubtful) or any(
        word.startswith(_NEGATING) for word in column.words - words.BETTER - _HARMLESS
    )


def ask_direction(column: Column, answers: Answers, ask: Ask | None) -> bool:
    """Return whether higher values of a column are better, asking if its name is doubtful."""
    known = more_is_better([column], answers)
    if known or column.name in answers.lower or not (known is False or is_doubtful(column)):
        return known is not False
    why = "by its name, less of it is better" if known is False else "its name does not say"
    text = f"Is more of {column.name} better (higher), or less (lower)?"
    usage = f"--higher {column.name} or --lower {column.name}"
    question = Question("higher", text, ("higher", "lower"), why, usage=usage)
    return ask_for(question, ask) == ("higher",)


def check_one_direction(
    columns: Sequence[Column], answers: Answers, labels: Iterable[str] = words.YES
) -> None:
    """Refuse columns of which some are better if higher and others if lower."""
    known = {more_is_better([column], answers): column.name for column in columns}
    degrees = {words.plain_label(label) for label in labels} & {*words.YES, *words.NO}
    if degrees and {True, False} <= set(known):
        raise SourceError(
            f"more of {known[True]} is better, and less of {known[False]}, by their names; one "
            "rule does not read both: convert them apart, and name with --label or --score which"
        )


def good_label(
    labels: Sequence[str], columns: Sequence[Column], answers: Answers | None = None
) -> str | None:
    """Return the label that means no error; None if no label clearly does."""
    plain = {words.plain_label(label): label for label in reversed(labels)}
    better = more_is_better(columns, answers)
    known = [label for label in words.NO_ERROR if label not in words.YES]
    if better is False:
        known = [label for label in known if label not in words.KINDS_OF_FAULT] + list(words.NO)
    elif better:
        known += words.YES
    return next((plain[label] for label in known if label in plain), None)
