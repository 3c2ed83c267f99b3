"""Tables that are not a row per candidate, with numbers as Python writes them.

None of them is read: each is told, with what to do about it.
"""

from collections.abc import Iterable, Sequence

from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.aspects import Measure
from nnd.converters.new_source.guess.columns import Column
from nnd.converters.reading import shown
from nnd.schemas import SourceError

_LONG = 20  # characters on average of what may be a candidate
_LONGEST_NAME = 200
_MOST_LISTED = 6
_SCALE = 10  # the highest of scales beside which 99 is no number
_LEAST_SCALE = 3
_NO_ANSWER = frozenset([-999.0, -99.0, -9.0, -1.0, 99.0, 999.0, 9999.0])
_SOMETHING_ELSE = (
    words.CONTEXT
    | words.MAYBE_CONTEXT
    | words.MAYBE_CANDIDATE
    | words.REFERENCE
    | words.COMMENT
    | words.IDENTIFIER
    | words.ANNOTATOR
    | words.LABEL
)


def check_not_compared(candidate: Column, columns: Sequence[Column]) -> None:
    """Complain of a candidate beside which stand others, that it is compared with.

    Raises:
        SourceError: If names of columns differ in the side only: `output_a` and `output_b`.
    """
    different = len(candidate.counts)
    twins = [
        column
        for column in columns
        if column.kind == "text"
        and column.level == candidate.level
        and column.path[:-1] == candidate.path[:-1]
        and column.words & words.SIDES
        and column.words - words.SIDES == candidate.words - words.SIDES
        and different <= 2 * len(column.counts) <= 4 * different
    ]
    if candidate in twins and len(twins) > 1:
        raise _several_in_a_row(twins)


def check_not_wide(columns: Iterable[Column]) -> None:
    """Complain of rows without a system that hold several texts, each of a system of its own.

    Raises:
        SourceError: If there are several columns of texts, or lists of them.
    """
    found = [
        column
        for column in columns
        if column.above == 0
        and column.kind in ("text", "texts")
        and column.length >= _LONG
        and (column.all_words & words.CANDIDATE or not column.words & _SOMETHING_ELSE)
        and not column.words & words.REFERENCE
    ]
    if len(found) > 1 or any(column.kind == "texts" for column in found):
        raise _several_in_a_row(found)


def _several_in_a_row(found: Sequence[Column]) -> SourceError:
    names = ", ".join(column.name for column in found[:_MOST_LISTED])
    more = f", and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    return SourceError(
        f"several candidates seem to stand in a row, under {names}{more}, where a row for each is "
        "read; write a copy with a row per candidate: the context, the system, its text and what "
        "was said of it (of two that were compared `won` or `lost`, and a key of the comparison "
        "for --context-id), or write convert.py as CONTRIBUTING.md shows; if there is one in each "
        "row, name it with --candidate and its system with --system"
    )


def check_names(system: Column) -> None:
    """Complain of texts where the names of systems should be.

    Raises:
        SourceError: If one is too long for a name.
    """
    longest = max(map(len, system.counts), default=0)
    if longest > _LONGEST_NAME:
        raise SourceError(
            f"--system: {system.name} holds texts of up to {longest:,} characters, and no names; "
            "name another column"
        )


def check_one_aspect(columns: Iterable[Column]) -> None:
    """Complain of a table with a row per aspect, whose scores cannot be told apart.

    Args:
        columns: Those that were taken for nothing, where candidates stand in several rows.

    Raises:
        SourceError: If one of them is called like what names aspects.
    """
    for column in columns:
        if column.words & words.ASPECT and column.kind == "text":
            raise SourceError(
                f"{column.name} seems to name what was judged in each row "
                f"({shown(next(iter(column.counts)))}), and rows of one candidate cannot be told "
                "apart by it; give every aspect a column of its own in a copy of the file, or "
                "write convert.py as CONTRIBUTING.md shows"
            )


def check_numbers(columns: Iterable[Column]) -> None:
    """Complain of columns that would be scores, but for how some of their cells are written.

    Raises:
        SourceError: If numbers have a decimal comma, or a few cells are no numbers.
    """
    for column in columns:
        if column.spoilt_by is None:
            continue
        remedy = "leave such a cell empty in a copy of the file"
        if column.has_commas:
            remedy = "write numbers with a point, and without a comma, in a copy of the file"
        raise SourceError(
            f"{column.name}: holds numbers, and {shown(column.spoilt_by)}; {remedy}, or take what "
            "it says as labels with --label"
        )


def check_scales(measures: Iterable[Measure]) -> None:
    """Complain of a number that stands for no answer: 99 on a scale from 1 to 5.

    Raises:
        SourceError: If there is one.
    """
    for column in (column for measure in measures for column in measure.columns):
        numbers = set(column.numbers) if column.kind in ("number", "numbers") else set[float]()
        scale = numbers - _NO_ANSWER
        odd = sorted(numbers & _NO_ANSWER)
        is_scale = len(scale) >= _LEAST_SCALE and min(scale) >= 0 and max(scale) <= _SCALE
        if odd and is_scale:
            raise SourceError(
                f"{column.name}: {odd[0]:g} among numbers from {min(scale):g} to {max(scale):g} "
                "looks like no answer; leave such cells empty in a copy of the file, or name the "
                "column with --score or --rating if it is a score like the others"
            )
