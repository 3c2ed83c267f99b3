"""Which columns say how good a candidate is: labels, marks of errors, scores, ratings.

Where a file has labels of errors, its scores are left aside: an error of a known kind is what NND
tests are about. Flags say otherwise.
"""

from collections.abc import Callable, Iterable, Sequence

from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.aspects import (
    KINDS_OF_ERROR,
    Measure,
    MeasureKind,
    aspect_of,
    grouped,
    listed,
)
from nnd.converters.new_source.guess.columns import Column
from nnd.converters.new_source.guess.direction import more_is_better, scale_of
from nnd.schemas import SourceError

_MOST_LABELS = 60
_REPEATED = 1.5
_SCALE = 11  # values of a scale from 0 to 10
_LOWEST, _HIGHEST = -10, 100  # of a rating whose name says nothing
_MARKS = frozenset(["x", "X", "✓", "✔", "1", "yes", "Yes", "true", "True"])
_NO_LABELS = (
    words.ANNOTATOR
    | words.COMMENT
    | words.REFERENCE
    | words.SPLIT
    | words.IDENTIFIER
    | words.SYSTEM
    | words.LANGUAGE
)


def find_measures(columns: Sequence[Column]) -> list[Measure]:
    """Return what says how good a candidate is, of columns that are nothing else.

    Returns:
        Of tags, flags, marks, labels and numbers the first that there are; of labels and numbers
        all, of the others the likeliest.
    """
    open_ = [column for column in columns if column.above <= 0 and column.kind != "empty"]
    finders: tuple[Callable[[Sequence[Column]], list[Measure]], ...] = (
        _tags,
        _flags,
        _marks,
        _labels,
        _numbers,
    )
    for find in finders:
        found = find(open_)
        if found:
            return found
    return []


def chosen_measures(
    labels: Sequence[Column], scores: Sequence[Column], ratings: Sequence[Column]
) -> list[Measure]:
    """Return the measures of columns that the user named.

    Raises:
        SourceError: If a score or a rating is not a number, or a label not text.
    """
    for column in (*scores, *ratings):
        if column.kind not in ("number", "numbers"):
            raise SourceError(
                f"{column.name}: holds something other than numbers, e.g. "
                f"{_odd_one(column)!r}; name another column with --score or --rating, or take it "
                "with --label"
            )
    for column in labels:
        if column.kind not in ("text", "texts", "flag", "number"):
            raise SourceError(
                f"{column.name}: its cells are no labels ({column.kind}); name another column with "
                "--label"
            )
    why = "it was named"
    lists = [column for column in labels if column.kind == "texts"]
    single = [column for column in labels if column.kind != "texts"]
    return [
        *(Measure(aspect_of([column]), "tags", (column,), why) for column in lists),
        *grouped(single, "label", "votes", lambda _: why),
        *(
            Measure(
                aspect_of([column]),
                "ratings" if column.kind == "numbers" else "score",
                (column,),
                why,
            )
            for column in scores
        ),
        *_rated(ratings, why),
    ]


def one_per_aspect(measures: Iterable[Measure]) -> list[Measure]:
    """Keep one measure per aspect: the second list of judges that judged the same is left aside."""
    kept: dict[str, Measure] = {}
    for measure in measures:
        kept.setdefault(measure.aspect, measure)
    return list(kept.values())


def _rated(columns: Sequence[Column], why: str) -> list[Measure]:
    """Group the ratings that were named; those that do not fall into groups are one aspect."""
    found = grouped(columns, "ratings", "ratings", lambda _: why)
    if len(found) < len(columns) or len(columns) <= 1:
        return found
    shared = [
        word for word in words.words_of(columns[0].name) if all(word in c.words for c in columns)
    ]
    aspect = words.slug("_".join(shared), "quality")
    return [Measure(aspect, "ratings", tuple(columns), why)]


def _odd_one(column: Column) -> str:
    return next((cell for cell in column.cells if not cell.strip().isdigit()), "")[:40]


def _tags(columns: Sequence[Column]) -> list[Measure]:
    """Find lists of labels, or of objects that have one: the likeliest list only."""
    found: list[tuple[int, Measure]] = []
    for column in columns:
        named = column.all_words & (words.LABEL | {"span", "spans"})
        if column.kind != "texts" or not named or not column.is_short:
            continue
        if len(column.counts) > _MOST_LABELS or column.words & (words.ANNOTATOR | words.SEVERITY):
            continue
        if column.above < 0 and not column.words & KINDS_OF_ERROR:
            continue
        beside = [other for other in columns if other.level == column.level]
        by_many = column.above < 0 and any(other.all_words & words.ANNOTATOR for other in beside)
        points = 2 * bool(column.all_words & words.ERROR) + bool(column.words & {"type", "label"})
        why = f"lists of labels ({listed(column.counts)}), its name says {listed(sorted(named))}"
        kind: MeasureKind = "votes" if by_many else "tags"
        found.append((points, Measure(aspect_of([column]), kind, (column,), why)))
    return [max(found, key=lambda entry: entry[0])[1]] if found else []


def _flags(columns: Sequence[Column]) -> list[Measure]:
    """Find objects of truth values: which errors there are."""
    groups: dict[tuple[str, ...], list[Column]] = {}
    for column in columns:
        if column.above == 0 and len(column.path) > 1:
            groups.setdefault(column.path[:-1], []).append(column)
    for path, group in groups.items():
        named = set(words.words_of(path[-1])) & words.LABEL
        if named and all(each.kind == "flag" or set(each.counts) <= {"0", "1"} for each in group):
            why = f"truth values under {path[-1]}, whose name says {listed(sorted(named))}"
            return [Measure(words.slug(path[-1], "errors"), "flags", tuple(group), why)]
    return []


def _marks(columns: Sequence[Column]) -> list[Measure]:
    """Find columns that are marked where an error is, and blank elsewhere."""
    found = [
        column
        for column in columns
        if column.above == 0
        and column.filled < column.rows
        and {cell.strip() for cell in column.counts} <= _MARKS
        and len({cell.strip().lower() for cell in column.counts}) == 1
    ]
    if len(found) > 1 or any(column.words & words.ERROR for column in found):
        why = f"{listed(_cells(found))} in some rows, blank in others"
        return [Measure("errors", "marks", tuple(found), why)]
    return []


def _cells(columns: Iterable[Column]) -> list[str]:
    return sorted({cell.strip() for column in columns for cell in column.counts})


def _labels(columns: Sequence[Column]) -> list[Measure]:
    found = [column for column in columns if column.above == 0 and _is_label(column)]
    plain = [column for column in found if not column.words & words.SEVERITY] or found
    errors = [column for column in plain if _good_labels(column) or column.words & words.ERROR]
    return grouped(errors or plain, "label", "votes", _why_label)


def _is_label(column: Column) -> bool:
    """Say whether a column holds labels: few short texts, named or worded like a judgement."""
    different = len(column.counts)
    is_listed = column.has_commas and column.words & words.LABEL  # 1,3 are two kinds of error
    are_numbers = column.spoilt_by is not None and not is_listed
    if column.kind not in ("text", "flag") or not column.is_short or are_numbers:
        return False
    if column.words & _NO_LABELS or different > _MOST_LABELS:
        return False
    if different + (column.filled < column.rows) <= 1:
        return False  # always the same
    if column.words & (words.LABEL | words.SEVERITY):
        return different < column.rows
    is_worded = column.words & words.SCORE or _good_labels(column) or scale_of(column.counts)
    return bool(is_worded) and column.repetition >= _REPEATED


def _why_label(column: Column) -> str:
    return f"{len(column.counts)} short values: {listed(column.counts)}"


def _good_labels(column: Column) -> list[str]:
    """Return labels that are good news; `yes` is none where the name does not say of what."""
    is_known = more_is_better([column]) is not None
    plain = {label: words.plain_label(label) for label in column.counts}
    return [
        label
        for label, said in plain.items()
        if said in words.NO_ERROR and (is_known or said not in words.YES)
    ]


def _numbers(columns: Sequence[Column]) -> list[Measure]:
    found = [
        column
        for column in columns
        if column.kind in ("number", "numbers")
        and len(column.counts) > 1
        and not column.words & (words.COUNTED | words.IDENTIFIER | words.SYSTEM | words.SEVERITY)
        and not column.words & words.WORSE
        and not _is_code(column)
        and (column.words & words.SCORE or _is_scale(column))
    ]
    lists = [column for column in found if column.kind == "numbers"]
    if lists:
        return [
            Measure(aspect_of([column]), "ratings", (column,), f"lists of {_range(column)}")
            for column in lists
        ]
    return grouped(found or _binary_errors(columns), "score", "ratings", _range)


def _binary_errors(columns: Sequence[Column]) -> list[Column]:
    """Where nothing else is a number: 0 and 1 under the name of an error."""
    return [
        column
        for column in columns
        if column.kind == "number" and column.words & words.WORSE and set(column.numbers) == {0, 1}
    ]


def _is_code(column: Column) -> bool:
    """Say whether numbers are who judged, rather than what: `rater`, but not `rater_1`."""
    is_who = bool(column.words & words.ANNOTATOR) and not column.words & words.SCORE
    return is_who and not any(char.isdigit() for char in column.name)


def _is_scale(column: Column) -> bool:
    low, high = min(column.numbers), max(column.numbers)
    few = len(column.counts) <= _SCALE and low >= _LOWEST and high <= _HIGHEST
    means = low >= 0 and high - low > 1 and high <= _SCALE - 1
    return few or means


def _range(column: Column) -> str:
    return f"numbers from {min(column.numbers):g} to {max(column.numbers):g}"
