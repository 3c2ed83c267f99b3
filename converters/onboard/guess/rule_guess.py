"""Choosing the quality rule, with its parameters, for the judgements of a file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.measures import (
    Measure,
    ask_direction,
    check_one_direction,
    good_label,
    more_is_better,
)
from nnd.converters.onboard.guess.questions import NONE, Answers, Ask, Question, ask_for
from nnd.schemas import SourceError

MADE_UP = "No error"
"""Label of a candidate without any mark, if the file has no label for it."""

UNSPECIFIED = "unspecified"
"""Label of a candidate that is not good, if the file does not state the error."""

_SEPARATORS = (";", "|", ",")
_WIDE = 10
_NARROW = 2


@dataclass(frozen=True, slots=True)
class Quality:
    """A quality rule, and how labels are read for it."""

    rule: Mapping[str, Any]  # the `quality` section of a source.yaml
    why: str
    labels: tuple[str, ...] = ()  # the most frequent first; empty for numbers
    blank: str | None = None  # label for candidates without one; None: they are not judged
    separator: str | None = None  # between several labels in a cell; None: a cell is one label
    lower: frozenset[str] = frozenset()  # names of columns of numbers that are better if lower

    @property
    def errors(self) -> tuple[str, ...]:
        """The labels of errors, which the taxonomy describes."""
        return tuple(label for label in self.labels if label != self.rule.get("no_error"))


def choose_quality(
    measures: Sequence[Measure],
    answers: Answers,
    ask: Ask | None,
    error: Sequence[Column] = (),
    *,
    by_annotator: bool = False,
) -> Quality:
    """Choose the rule for the measures, by labels if there are any.

    The columns `error` hold the error categories of candidates whose label is not the good one.
    """
    labelled = [measure for measure in measures if measure.has_labels]
    if labelled:
        found = _by_labels(labelled, answers, ask)
        return _with_kinds(found, error[0]) if error else found
    if answers.no_error is not None or answers.order:
        raise SourceError("--no-error and --order are about labels, and there are numbers only")
    return _by_numbers(measures, answers, ask, by_annotator=by_annotator)


def _with_kinds(found: Quality, error: Column) -> Quality:
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
    labels = _labels(measures, separator)
    check_one_direction(columns, answers, labels)
    if answers.order:
        return _ordered(answers.order, labels, separator)
    good, why = _no_error(measures, labels, answers, ask)
    blank = good if good not in labels else None
    if blank is not None and not any(map(_has_blanks, measures)):
        raise SourceError(
            f'--no-error: no candidate is labelled "{good}", nor is there one without a label; '
            f"the labels are {', '.join(labels)}"
        )
    if not set(labels) - {good}:
        raise SourceError(
            f'every label is "{good}", so that no candidate has an error; name other columns '
            "with --label, --score or --rating"
        )
    return Quality({"rule": "no_error", "no_error": good}, why, labels, blank, separator)


def _separator(measures: Sequence[Measure], answers: Answers, ask: Ask | None) -> str | None:
    """Return the separator of several labels in a cell, asking if parts repeat."""
    if answers.separator is not None:
        return None if answers.separator == NONE else answers.separator
    cells = {cell for m in measures if m.kind == "label" for c in m.columns for cell in c.counts}
    for mark in _SEPARATORS:
        parts = Counter(part.strip() for cell in cells for part in {*cell.split(mark)})
        cut = next((cell for cell in sorted(cells) if mark in cell), "")
        if len(parts) <= len(cells) and any(parts[part.strip()] > 1 for part in cut.split(mark)):
            text = f"Does {mark!r} separate several labels, as in {cut!r}?"
            usage = f"--separator '{mark}' or --separator {NONE}"
            question = Question("separator", text, (mark, NONE), "parts repeat", usage=usage)
            (answer,) = ask_for(question, ask)
            return None if answer == NONE else answer
    return None


def _labels(measures: Sequence[Measure], separator: str | None) -> tuple[str, ...]:
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
    found.pop("", None)  # a blank label converts only if it is the good one
    return tuple(sorted(found, key=lambda label: (-found[label], label)))


def _no_error(
    measures: Sequence[Measure], labels: tuple[str, ...], answers: Answers, ask: Ask | None
) -> tuple[str, str]:
    """Return the label of candidates without errors, and the reason."""
    if answers.no_error is not None:
        return answers.no_error, "it was given"
    good = good_label(labels, [column for m in measures for column in m.columns], answers)
    if good is not None:
        return good, f'"{good}" reads as no error'
    without = [measure for measure in measures if _has_blanks(measure)]
    if any(m.kind != "label" or m.columns[0].words & words.ERROR for m in without):
        made_up = MADE_UP if MADE_UP not in labels else f"{MADE_UP} at all"
        return made_up, "a candidate without any mark has no error"
    why = "it is better than every other label; or give the labels from best to worst with --order"
    if without:
        why += "; any other word is the label of candidates without one"
    text = "Which label says that nothing is wrong with a candidate?"
    (chosen,) = ask_for(Question("no_error", text, labels, why), ask)
    return chosen, "it was given"


def _has_blanks(measure: Measure) -> bool:
    """Say whether a candidate has no label; an empty list counts as none."""
    return any(
        column.filled < column.rows or (measure.kind == "tags" and [] in column.values)
        for column in measure.columns
    )


def _ordered(order: Sequence[str], labels: tuple[str, ...], separator: str | None) -> Quality:
    unknown = [label for label in order if label not in labels]
    if unknown:
        raise SourceError(
            f'--order: there is no label "{unknown[0]}"; the labels are {", ".join(labels)}'
        )
    better = [list(pair) for pair in pairwise(order)]
    if not better:
        raise SourceError("--order: one label is not an order; repeat it, the best label first")
    rule = {"rule": "order", "better": better}
    return Quality(rule, "the order was given", labels, None, separator)


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
    ends = [(min(c.numbers), max(c.numbers)) for c in columns]
    widths = [high - low for low, high in ends]
    widest = max(widths)
    top = max(
        -low if c.name in lower else high for c, (low, high) in zip(columns, ends, strict=True)
    )
    if answers.top is not None and not by_many:
        raise SourceError("--top is about ratings of several annotators; there is one score")
    whole = all(number.is_integer() for number in raw)
    if answers.top is not None or (
        answers.minimum is None and by_many and whole and widest <= _WIDE
    ):
        why = f"several ratings for a candidate, the highest is {top:g}"
        rule = {"rule": "majority", "top": _plain(top if answers.top is None else answers.top)}
        return Quality(rule, why, lower=lower)
    why = f"scores from {min(raw):g} to {max(raw):g}"
    if widest > _WIDE * min(widths):
        why += ", but the aspects have different scales; convert them separately"
    minimum = sensible_minimum(widest) if answers.minimum is None else answers.minimum
    rule = {"rule": "gap", "minimum": _plain(minimum), "tolerance": 1e-6}
    return Quality(rule | ({"ratings": "mean"} if by_many else {}), why, lower=lower)


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
    if not set(high) <= values or not low:
        raise SourceError(
            f"--high: {', '.join(f'{number:g}' for number in high)} must be some of the scores, "
            f"which are {', '.join(f'{number:g}' for number in sorted(values)[:20])}, and not all"
        )
    rule = {"rule": "credit", "high": [_plain(n) for n in high], "low": [_plain(n) for n in low]}
    return Quality(rule, why)


def sensible_minimum(width: float) -> float:
    """Return the smallest difference that counts: a point on usual scales, a tenth of others."""
    return 1 if _NARROW <= width <= _WIDE else float(f"{width / 10:.0e}")


def _plain(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number
