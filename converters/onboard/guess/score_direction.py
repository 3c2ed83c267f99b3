"""Whether higher values of a column are better, by its name or by a question.

`yes`, or a 5, is good for `fluent` and bad for `offensive`. A wrong guess here reverses every pair,
and the result looks plausible.
"""

from collections.abc import Iterable, Sequence

from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.questions import Answers, Ask, Question, ask_for
from nnd.schemas import SourceError

_NEGATING = ("in", "un", "dis", "non", "contra")
_HARMLESS = words.CONTEXT | words.IDENTIFIER


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
