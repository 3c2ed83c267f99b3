"""Which quality rule fits what was judged, and with which parameters."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nnd.converters.contents import Column
from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.direction import (
    ask_direction,
    check_one_direction,
    good_label,
    is_degree,
    more_is_better,
)
from nnd.converters.new_source.guess.measures import Measure
from nnd.converters.new_source.guess.questions import NONE, Answers, Ask, Question, ask_for
from nnd.schemas import SourceError

MADE_UP = "No error"
"""Label of a candidate without any mark, where the file has no word for it."""

UNSPECIFIED = "unspecified"
"""Label of a candidate that is not good, where the file does not say in what way."""

_SEPARATORS = (";", "|", ",")
_WIDE = 10
_NARROW = 2


@dataclass(frozen=True, slots=True)
class Quality:
    """A quality rule, and how labels are read for it.

    Attributes:
        rule: The `quality` section of a source.yaml.
        why: Why it is this one.
        labels: The labels that there are, the frequent first; none for numbers.
        blank: Label of a candidate with no label or an empty list; None: it is not judged.
        separator: What separates several labels in one cell; None: a cell is one label.
        lower: Names of columns of numbers of which less is better.
    """

    rule: Mapping[str, Any]
    why: str
    labels: tuple[str, ...] = ()
    blank: str | None = None
    separator: str | None = None
    lower: frozenset[str] = frozenset()

    @property
    def errors(self) -> tuple[str, ...]:
        """The labels of errors: what the taxonomy describes."""
        return tuple(label for label in self.labels if label != self.rule.get("no_error"))


def choose_quality(
    measures: Sequence[Measure],
    answers: Answers,
    ask: Ask | None,
    error: Sequence[Column] = (),
    *,
    by_annotator: bool = False,
) -> Quality:
    """Choose the rule for what was judged.

    Args:
        measures: What was judged; where labels are among it, they are what the rule reads.
        answers: Parameters that the user gave decide.
        ask: For what cannot be guessed.
        error: The kinds of error of candidates whose label is not the good one.
        by_annotator: Whether a row is one annotator's judgement.

    Raises:
        SourceError: If a parameter does not fit, or something must be asked.
    """
    labelled = [measure for measure in measures if measure.has_labels]
    if labelled:
        found = _by_labels(labelled, answers, ask)
        return _with_kinds(found, error[0]) if error else found
    if answers.no_error is not None or answers.order:
        raise SourceError("--no-error and --order are about labels, and there are numbers only")
    return _by_numbers(measures, answers, ask, by_annotator=by_annotator)


def _with_kinds(found: Quality, error: Column) -> Quality:
    """Return the rule under which kinds of error take the place of the labels that are not good."""
    if found.rule["rule"] != "no_error":
        raise SourceError("--error needs one label that is good; name it with --no-error")
    kinds = [kind for kind, _ in error.counts.most_common() if kind.strip()]
    return Quality(found.rule, found.why, (found.rule["no_error"], *kinds, UNSPECIFIED))


def _by_labels(measures: Sequence[Measure], answers: Answers, ask: Ask | None) -> Quality:
    columns = [column for measure in measures for column in measure.columns]
    if answers.minimum is not None or answers.top is not None or answers.high:
        names = ", ".join(column.name for column in columns)
        raise SourceError(
            f"--minimum, --top and --high are about numbers, and {names} holds labels; name the "
            "columns of numbers with --score or --rating"
        )
    separator = _separator(measures, answers, ask)
    counts = _count(measures, separator)
    labels = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
    if is_degree(labels):
        check_one_direction(columns, answers)
    if answers.order:
        return _ordered(answers.order, "the order was given", labels, separator)
    if answers.no_error is not None:
        return _without_error(answers.no_error, "it was given", labels, measures, separator)
    good = good_label(labels, columns, answers)
    if good is not None:
        why = f'"{good}" reads as no error'
        return _without_error(good, why, labels, measures, separator)
    if _blank_is_good(measures):
        why = "a candidate without any mark has no error"
        made_up = MADE_UP if MADE_UP not in labels else f"{MADE_UP} at all"
        return _without_error(made_up, why, labels, measures, separator)
    why = "it beats every other label; or give the labels from best to worst with --order"
    if _has_blanks(measures):
        why += "; any other word is the label of candidates without one"
    text = "Which label says that nothing is wrong with a candidate?"
    (chosen,) = ask_for(Question("no_error", text, labels, why), ask)
    return _without_error(chosen, "it was given", labels, measures, separator)


def _separator(measures: Sequence[Measure], answers: Answers, ask: Ask | None) -> str | None:
    """Return what separates several labels in a cell, which is asked where cut labels repeat."""
    if answers.separator is not None:
        return None if answers.separator == NONE else answers.separator
    columns = [column for m in measures if m.kind == "label" for column in m.columns]
    whole = {cell.strip() for column in columns for cell in column.cells}
    for mark in _SEPARATORS:
        parts = Counter(part.strip() for cell in whole for part in {*cell.split(mark)})
        cut = next((cell for cell in whole if mark in cell), None)
        if cut and len(parts) <= len(whole) and any(parts[p.strip()] > 1 for p in cut.split(mark)):
            text = f"Does {mark!r} separate several labels, as in {cut!r}?"
            usage = f"--separator '{mark}' or --separator {NONE}"
            question = Question("separator", text, (mark, NONE), "parts repeat", usage=usage)
            (answer,) = ask_for(question, ask)
            return None if answer == NONE else answer
    return None


def _count(measures: Sequence[Measure], separator: str | None) -> Counter[str]:
    found: Counter[str] = Counter()
    for measure in measures:
        for column in measure.columns:
            if measure.kind == "marks":
                found[column.path[-1]] += column.filled
            elif measure.kind == "tags":
                found.update(column.counts)
            else:
                cells = (cell.split(separator) if separator else [cell] for cell in column.cells)
                found.update(part.strip() for parts in cells for part in parts)
    found.pop("", None)  # a blank label, which does not convert unless it is the good one
    return found


def _blank_is_good(measures: Sequence[Measure]) -> bool:
    """Say whether a candidate without a label is one without an error."""
    for measure in measures:
        if measure.kind == "marks":
            return True
        (column, *_) = measure.columns
        if measure.kind == "tags" and any(value == [] for value in column.values):
            return True
        if measure.kind == "label" and column.filled < column.rows and column.words & words.ERROR:
            return True
    return False


def _without_error(
    no_error: str,
    why: str,
    labels: Sequence[str],
    measures: Sequence[Measure],
    separator: str | None,
) -> Quality:
    """The rule `no_error`; a label that no candidate has is that of those without any."""
    blank = no_error if no_error not in labels else None
    if blank is not None and not _blank_is_good(measures) and not _has_blanks(measures):
        raise SourceError(
            f'--no-error: no candidate is labelled "{no_error}", nor is there one without a label; '
            f"the labels are {', '.join(labels)}"
        )
    if not set(labels) - {no_error}:
        raise SourceError(
            f'every label is "{no_error}", so that no candidate has an error; name other columns '
            "with --label, --score or --rating"
        )
    rule = {"rule": "no_error", "no_error": no_error}
    return Quality(rule, why, tuple(labels), blank, separator)


def _has_blanks(measures: Sequence[Measure]) -> bool:
    return any(column.filled < column.rows for measure in measures for column in measure.columns)


def _ordered(
    order: Sequence[str], why: str, labels: Sequence[str], separator: str | None
) -> Quality:
    unknown = [label for label in order if label not in labels]
    if unknown:
        raise SourceError(
            f'--order: there is no label "{unknown[0]}"; the labels are {", ".join(labels)}'
        )
    better = [list(pair) for pair in pairwise(order)]
    if not better:
        raise SourceError("--order: one label is not an order; repeat it, the best label first")
    return Quality({"rule": "order", "better": better}, why, tuple(labels), None, separator)


def _by_numbers(
    measures: Sequence[Measure], answers: Answers, ask: Ask | None, *, by_annotator: bool
) -> Quality:
    columns = [column for measure in measures for column in measure.columns]
    raw = {number for column in columns for number in column.numbers}
    by_many = by_annotator or any(measure.kind == "ratings" for measure in measures)
    if answers.high:
        return _credit(answers.high, raw, "the high scores were given")
    if raw <= {0, 1} and not by_many and answers.minimum is None:
        return _by_digits(columns, raw, answers, ask)
    lower = frozenset(
        column.name
        for measure in measures
        if not ask_direction(measure.columns[0], answers, ask)
        for column in measure.columns
    )
    signs = {column.name: -1 if column.name in lower else 1 for column in columns}
    numbers = [
        [signs[column.name] * number for column in measure.columns for number in column.numbers]
        for measure in measures
    ]
    values = {number for each in numbers for number in each}
    if answers.top is not None:
        if not by_many:
            raise SourceError("--top is about ratings of several annotators; there is one score")
        rule = {"rule": "majority", "top": answers.top}
        return Quality(rule, "the top rating was given", lower=lower)
    if answers.minimum is not None:
        return _gap(answers.minimum, "the minimum was given", lower, by_many=by_many)
    ranges = [max(each) - min(each) for each in numbers]
    whole = all(number.is_integer() for number in values)
    if by_many and whole and max(ranges) <= _WIDE:
        top = max(values)
        why = f"several ratings for a candidate, the highest is {top:g}"
        return Quality({"rule": "majority", "top": _plain(top)}, why, lower=lower)
    why = f"scores from {min(values):g} to {max(values):g}"
    if max(ranges) > _WIDE * min(ranges):
        why += ", but aspects have scales of their own: better convert them apart"
    return _gap(sensible_minimum(max(ranges)), why, lower, by_many=by_many)


def _by_digits(
    columns: Sequence[Column], values: set[float], answers: Answers, ask: Ask | None
) -> Quality:
    check_one_direction(columns, answers)
    better = more_is_better(columns, answers)
    if better is None:
        names = ", ".join(column.name for column in columns)
        text = f"Which number says that a candidate is good, under {names}?"
        (chosen,) = ask_for(Question("high", text, ("0", "1"), "the name does not say"), ask)
        better = chosen == "1"
    return _credit((float(better),), values, f"scores are 0 and 1, and {better:d} is good")


def _credit(high: Sequence[float], values: set[float], why: str) -> Quality:
    low = sorted(values - set(high))
    missing = [number for number in high if number not in values]
    if missing or not low:
        raise SourceError(
            f"--high: {', '.join(f'{number:g}' for number in high)} must be some of the scores, "
            f"which are {', '.join(f'{number:g}' for number in sorted(values)[:20])}, and not all"
        )
    rule = {"rule": "credit", "high": [_plain(n) for n in high], "low": [_plain(n) for n in low]}
    return Quality(rule, why)


def _gap(minimum: float, why: str, lower: frozenset[str], *, by_many: bool) -> Quality:
    rule = {"rule": "gap", "minimum": _plain(minimum), "tolerance": 1e-6}
    rule |= {"ratings": "mean"} if by_many else {}
    return Quality(rule, why, lower=lower)


def sensible_minimum(width: float) -> float:
    """Return the smallest difference to count on a scale so wide.

    A point on the usual scales (from 1 to 5, from 0 to 10), a tenth of wider or narrower ones,
    rounded to one digit.
    """
    if _NARROW <= width <= _WIDE:
        return 1
    return float(f"{width / 10:.0e}")


def _plain(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number
