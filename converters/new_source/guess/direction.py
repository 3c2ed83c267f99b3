"""Whether more of what a column is named after is better: a name says it, or nobody knows.

`yes` is good news of `fluent` and bad news of `offensive`, and so is a 5. A guess that is wrong
here turns every pair around, and looks like one that is right.
"""

from collections.abc import Iterable, Sequence

from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.columns import Column
from nnd.schemas import SourceError

_LEAST_SCALE = 3
_DEGREES = [(label,) for label in words.DEGREES]


def more_is_better(columns: Iterable[Column]) -> bool | None:
    """Return whether more of what columns are named after is better; None: the names do not say."""
    found = {_of_one(column) for column in columns}
    return found.pop() if len(found) == 1 else None


def _of_one(column: Column) -> bool | None:
    named = column.words if column.words & (words.WORSE | words.BETTER) else column.all_words
    if named & words.DENIED:
        return None
    if named & words.WORSE:
        return False
    return True if named & words.BETTER else None


def check_one_direction(columns: Sequence[Column]) -> None:
    """Complain of columns of which one is better where there is more of it, another where less.

    Raises:
        SourceError: If there are such: one rule is read for all of them.
    """
    told = {more_is_better([column]): column.name for column in columns}
    if {True, False} <= set(told):
        raise SourceError(
            f"more of {told[True]} is better, and less of {told[False]}, by their names; one rule "
            "does not read both: convert them apart, and name with --label or --score which"
        )


def good_label(labels: Sequence[str], columns: Sequence[Column]) -> str | None:
    """Return the label that says that nothing is wrong; None where none clearly does."""
    plain = {words.plain_label(label): label for label in reversed(labels)}
    better = more_is_better(columns)
    known = [label for label in words.NO_ERROR if label not in words.YES]
    if better is False:
        known = [label for label in known if label not in words.KINDS_OF_FAULT] + list(words.NO)
    elif better:
        known += words.YES
    return next((plain[label] for label in known if label in plain), None)


def scale_of(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the known scale, the best first, that labels are some of; nothing where none is."""
    plain = {words.plain_label(label) for label in labels}
    scales = (scale for scale in words.SCALES if plain <= set(scale))
    return next(scales, ()) if len(plain) >= _LEAST_SCALE else ()


def is_degree(labels: Iterable[str]) -> bool:
    """Say whether labels say how much of something there is: yes and no, or a scale of it."""
    plain = {words.plain_label(label) for label in labels}
    return bool(plain & {*words.YES, *words.NO}) or scale_of(labels)[:1] in _DEGREES


def ordered_labels(labels: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """Return labels from best to worst where they are a known scale, else nothing."""
    scale = scale_of(labels)
    if scale[:1] in _DEGREES:
        better = more_is_better(columns)
        scale = () if better is None else scale if better else scale[::-1]
    plain = {words.plain_label(label): label for label in labels}
    return [plain[label] for label in scale if label in plain]
