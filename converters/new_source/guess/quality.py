"""Which quality rule fits what was judged, and with which parameters."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.aspects import Measure
from nnd.converters.new_source.guess.columns import Column
from nnd.converters.new_source.guess.direction import (
    check_one_direction,
    good_label,
    is_degree,
    more_is_better,
    ordered_labels,
)
from nnd.converters.new_source.guess.questions import Answers, Ask, Question, ask_for
from nnd.schemas import SourceError

MADE_UP = "No error"
"""Label of a candidate without any mark, where the file has no word for it."""

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
        separator: What stands between several labels in one cell; None: a cell is one label.
        averaged: Whether the rule reads the mean of ratings.
    """

    rule: Mapping[str, Any]
    why: str
    labels: tuple[str, ...] = ()
    blank: str | None = None
    separator: str | None = None
    averaged: bool = False

    @property
    def errors(self) -> tuple[str, ...]:
        """The labels of errors: what the taxonomy describes."""
        return tuple(label for label in self.labels if label != self.rule.get("no_error"))


def choose_quality(measures: Sequence[Measure], answers: Answers, ask: Ask | None) -> Quality:
    """Choose the rule for what was judged.

    Args:
        measures: What was judged; where labels are among it, they are what the rule reads.
        answers: Parameters that the user gave decide.
        ask: For what cannot be guessed.

    Raises:
        SourceError: If a parameter does not fit, or nobody can be asked.
    """
    labelled = [measure for measure in measures if measure.has_labels]
    if labelled:
        return _by_labels(labelled, answers, ask)
    if answers.no_error is not None or answers.order:
        raise SourceError("--no-error and --order are about labels, and there are numbers only")
    return _by_numbers(measures, answers, ask)


def _by_labels(measures: Sequence[Measure], answers: Answers, ask: Ask | None) -> Quality:
    if answers.minimum is not None or answers.top is not None or answers.high:
        names = ", ".join(column.name for measure in measures for column in measure.columns)
        raise SourceError(
            f"--minimum, --top and --high are about numbers, and {names} holds labels; name the "
            "columns of numbers with --score or --rating"
        )
    separator = _separator(measures)
    counts = _count(measures, separator)
    labels = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
    columns = [column for measure in measures for column in measure.columns]
    if is_degree(labels):
        check_one_direction(columns)
    if answers.order:
        return _ordered(answers.order, "the order was given", labels, separator)
    if answers.no_error is not None:
        return _without_error(answers.no_error, "it was given", labels, measures, separator)
    scale = ordered_labels(labels, columns)
    if scale:
        return _ordered(scale, "the labels are a scale", labels, separator)
    good = good_label(labels, columns)
    if good is not None:
        why = f'"{good}" reads as no error'
        return _without_error(good, why, labels, measures, separator)
    if _blank_is_good(measures):
        why = "a candidate without any mark has no error"
        return _without_error(_made_up(labels), why, labels, measures, separator)
    why = "it beats every other label; or give the labels from best to worst with --order"
    if _has_blanks(measures):
        why += "; another word stands for candidates without a label"
    text = "Which label says that nothing is wrong with a candidate?"
    (chosen,) = ask_for(Question("no_error", text, labels, why), ask)
    return _without_error(chosen, "it was given", labels, measures, separator)


def _separator(measures: Sequence[Measure]) -> str | None:
    """Return what stands between several labels in a cell: cut there, labels meet again."""
    cells = [
        cell
        for measure in measures
        if measure.kind in ("label", "votes")
        for column in measure.columns
        for cell in column.cells
    ]
    whole = {cell.strip() for cell in cells}
    for mark in _SEPARATORS:
        parts = Counter(
            part for cell in whole for part in {part.strip() for part in cell.split(mark)} if part
        )
        is_shared = any(
            parts[part.strip()] > 1 for cell in whole if mark in cell for part in cell.split(mark)
        )
        if is_shared and len(parts) <= len(whole):
            return mark
    return None


def _count(measures: Sequence[Measure], separator: str | None) -> Counter[str]:
    found: Counter[str] = Counter()
    for measure in measures:
        for column in measure.columns:
            if measure.kind in ("marks", "flags"):
                found[column.path[-1]] += column.filled
            elif separator is not None:
                found.update(
                    part.strip() for cell in column.cells for part in cell.split(separator)
                )
            elif measure.kind == "tags":
                found.update(column.counts)
            else:
                found.update(cell.strip() for cell in column.cells)
    found.pop("", None)  # no label: what has it does not convert, and is told then
    return found


def _blank_is_good(measures: Sequence[Measure]) -> bool:
    """Say whether a candidate without a label is one without an error."""
    for measure in measures:
        if measure.kind in ("marks", "flags"):
            return True
        (column, *_) = measure.columns
        if measure.kind == "tags" and any(value == [] for value in column.values):
            return True
        if measure.kind == "label" and column.filled < column.rows and column.words & words.ERROR:
            return True
    return False


def _made_up(labels: Sequence[str]) -> str:
    return MADE_UP if MADE_UP not in labels else f"{MADE_UP} at all"


def _without_error(
    no_error: str,
    why: str,
    labels: Sequence[str],
    measures: Sequence[Measure],
    separator: str | None,
) -> Quality:
    """The rule `no_error`; a label that no candidate has stands for those without any."""
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


def _by_numbers(measures: Sequence[Measure], answers: Answers, ask: Ask | None) -> Quality:
    numbers = [[n for column in measure.columns for n in column.numbers] for measure in measures]
    values = {number for each in numbers for number in each}
    by_many = any(measure.kind == "ratings" for measure in measures)
    if answers.high:
        return _credit(answers.high, values, "the high scores were given")
    if answers.top is not None:
        if not by_many:
            raise SourceError("--top is about ratings of several annotators; there is one score")
        return Quality({"rule": "majority", "top": answers.top}, "the top rating was given")
    if answers.minimum is not None:
        return _gap(answers.minimum, "the minimum was given", averaged=by_many)
    columns = [column for measure in measures for column in measure.columns]
    if values <= {0, 1} and not by_many:
        high = _good_digit(columns, ask)
        return _credit((high,), values, f"scores are 0 and 1, and {high:g} is good")
    _check_direction(columns)
    ranges = [max(each) - min(each) for each in numbers]
    whole = all(number.is_integer() for number in values)
    if by_many and whole and max(ranges) <= _WIDE:
        top = max(values)
        why = f"several ratings for a candidate, the highest is {top:g}"
        return Quality({"rule": "majority", "top": _plain(top)}, why)
    why = f"scores from {min(values):g} to {max(values):g}"
    if max(ranges) > _WIDE * min(ranges):
        why += ", but aspects have scales of their own: better convert them apart"
    return _gap(sensible_minimum(max(ranges)), why, averaged=by_many)


def _good_digit(columns: Sequence[Column], ask: Ask | None) -> float:
    check_one_direction(columns)
    better = more_is_better(columns)
    if better is not None:
        return float(better)
    names = ", ".join(column.name for column in columns)
    text = f"Which number says that a candidate is good, under {names}?"
    (chosen,) = ask_for(Question("high", text, ("0", "1"), "the name does not say"), ask)
    return float(chosen)


def _check_direction(columns: Sequence[Column]) -> None:
    """Complain of numbers of which less is better: every rule takes the higher for the better."""
    worse = [column.name for column in columns if more_is_better([column]) is False]
    if worse:
        raise SourceError(
            f"{', '.join(worse)}: less of it is better, by its name, and higher scores count as "
            "better; name the good ones with --high, or turn the numbers around in a copy; where "
            "higher is better all the same, say from which difference on with --minimum"
        )


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


def _gap(minimum: float, why: str, *, averaged: bool) -> Quality:
    rule = {"rule": "gap", "minimum": _plain(minimum), "tolerance": 1e-6}
    return Quality(rule, why, averaged=averaged)


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
