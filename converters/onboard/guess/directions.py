"""Whether more of something is better, by its name, and which label means that nothing is wrong.

`yes`, or a 5, is good for `fluent` and bad for `offensive`. A wrong guess here reverses every pair,
and the result looks plausible, so nothing is taken of a name that does not clearly say.
"""

from collections.abc import Iterable, Sequence

from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.guess import name_words as words

_NEGATING = ("in", "un", "dis", "non", "contra")
_HARMLESS = words.CONTEXT | words.IDENTIFIER


def more_is_better(columns: Iterable[Column]) -> bool | None:
    """Return whether higher values of columns are better; None if the names do not say."""
    found = {_of_one(column) for column in columns}
    return found.pop() if len(found) == 1 else None


def _of_one(column: Column) -> bool | None:
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


def good_label(labels: Sequence[str], columns: Sequence[Column]) -> str | None:
    """Return the label that means no error; None if no label clearly does."""
    plain = {words.plain_label(label): label for label in reversed(labels)}
    better = more_is_better(columns)
    known = [label for label in words.NO_ERROR if label not in words.YES]
    if better is False:
        known = [label for label in known if label not in words.KINDS_OF_FAULT] + list(words.NO)
    elif better:
        known += words.YES
    return next((plain[label] for label in known if label in plain), None)
