"""Which columns are candidate, system, context and keys: evidence is added up, and told.

Names of columns weigh most; then what a column must be: a context repeats over its candidates, a
system has few values, a candidate differs from row to row.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.columns import Column, determines, joint

ENOUGH = 3
"""Points from which on a guess is taken."""

_CLEAR = 1  # points that the best must be ahead
_LONG = 25  # characters on average of what reads like text
_LONGEST_SYSTEM = 60
_FEW = 2  # values: more of them that are equally frequent are no chance
_REPEATED = 1.5
_MOST_SYSTEMS = 200
_MOST_CATEGORIES = 50


class Evidence(NamedTuple):
    """Something that speaks for or against a guess."""

    points: int
    why: str


@dataclass(frozen=True, slots=True)
class Pick:
    """A column that was taken for something, and why."""

    column: Column
    why: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Columns that may be something, the likeliest first, with their points."""

    found: tuple[tuple[int, Pick], ...]

    @property
    def clear(self) -> Pick | None:
        """The likeliest, if there is enough for it and more than for the next."""
        if not self.found or self.found[0][0] < ENOUGH:
            return None
        is_ahead = len(self.found) == 1 or self.found[0][0] - self.found[1][0] >= _CLEAR
        return self.found[0][1] if is_ahead else None

    @property
    def doubt(self) -> str:
        """Why none is clear."""
        if not self.found:
            return "nothing looks like it"
        points = [points for points, _ in self.found]
        return "several are as likely" if points[:1] == points[1:2] else "too little speaks for one"

    @property
    def columns(self) -> list[Column]:
        """All of them."""
        return [pick.column for _, pick in self.found]

    @property
    def points(self) -> int:
        """Points of the likeliest."""
        return self.found[0][0] if self.found else 0


def _rank(columns: Iterable[tuple[Column, Iterable[Evidence]]]) -> Ranking:
    found = []
    for column, evidence in columns:
        told = list(evidence)
        why = ", ".join(entry.why for entry in told if entry.points > 0)
        found.append((sum(entry.points for entry in told), Pick(column, why)))
    return Ranking(tuple(sorted(found, key=lambda entry: -entry[0])))


def rank_systems(columns: Sequence[Column]) -> Ranking:
    """Rank the columns that may name the system."""
    eligible = [
        column
        for column in columns
        if column.above >= 0
        and column.kind in ("text", "number")
        and column.length <= _LONGEST_SYSTEM
        and len(column.counts) <= min(_MOST_SYSTEMS, max(column.rows / _REPEATED, 1))
    ]
    return _rank((column, _of_system(column)) for column in eligible)


def _of_system(column: Column) -> Iterator[Evidence]:
    named = column.words & words.SYSTEM
    if named and not column.words & words.CANDIDATE:
        yield Evidence(3, f"its name says {_told(named)}")
        if len(column.words) == 1 or column.words <= words.SYSTEM | {"name", "id"}:
            yield Evidence(1, "and nothing else")
    if not column.path and column.above == 0:
        yield Evidence(3, "candidates lie under it as their key")
    if len(column.counts) > 1 and column.filled == column.rows:
        yield Evidence(1, f"{len(column.counts)} values over {column.rows} rows")
    taken = words.LABEL | words.SPLIT | words.CATEGORY | words.ANNOTATOR | words.LANGUAGE
    taken |= words.SCORE | words.COUNTED | words.ASPECT | words.REFERENCE
    if column.words & (taken | words.CONTEXT | words.CANDIDATE | words.MAYBE_CONTEXT):
        yield Evidence(-3, "its name says something else")
    elif column.words & words.IDENTIFIER and not named:
        yield Evidence(-3, "its name says key")
    elif _is_balanced(column):
        yield Evidence(2, "each value is in as many rows")
    if column.above > 0:
        yield Evidence(-1, "candidates of one object share it")
    if column.kind == "number" and not column.words & words.SYSTEM:
        yield Evidence(-3, "it holds numbers")


def _is_balanced(column: Column) -> bool:
    """Say whether every value, of more than two short ones, is in as many rows."""
    is_even = len(set(column.counts.values())) == 1
    return is_even and len(column.counts) > _FEW and column.length < _LONG


def rank_candidates(columns: Sequence[Column], system: Column | None) -> Ranking:
    """Rank the columns that may hold the candidates."""
    eligible = [
        column
        for column in columns
        if column.kind == "text"
        and column is not system
        and column.above == 0
        and column.path
        and len(column.counts) > 1
    ]
    most = max((len(column.counts) for column in eligible), default=0)
    return _rank((column, _of_candidate(column, most)) for column in eligible)


def _of_candidate(column: Column, most: int) -> Iterator[Evidence]:
    """Say what speaks for a column, where no column has more than `most` different texts."""
    strong, weak = column.words & words.CANDIDATE, column.words & words.MAYBE_CANDIDATE
    if strong:
        yield Evidence(3, f"its name says {_told(strong)}")
    elif weak:
        yield Evidence(1, f"its name says {_told(weak)}")
    if column.words & words.REFERENCE:
        yield Evidence(-5, "its name says that people wrote it")
    if column.words & words.CONTEXT - words.MAYBE_CANDIDATE and not strong:
        yield Evidence(-3, "its name says context")
    if column.words & words.IDENTIFIER | column.words & (words.LABEL | words.ANNOTATOR):
        yield Evidence(-3, "its name says something else")
    if column.words & words.SYSTEM and strong:
        yield Evidence(1, "of a system")
    if len(column.counts) == most:
        yield Evidence(2, f"it has the most different texts ({most:,} in {column.rows:,} rows)")
    elif _REPEATED * len(column.counts) <= most:
        yield Evidence(-2, "others differ more")
    if column.length >= _LONG:
        yield Evidence(1, f"it reads like text ({column.length:.0f} characters on average)")


def rank_contexts(columns: Sequence[Column], taken: Sequence[Column]) -> Ranking:
    """Rank the columns that may be the context, or a part of it."""
    eligible = [
        column
        for column in columns
        if (column.kind == "text" or (column.kind == "texts" and column.words & words.CONTEXT))
        and not any(column is other for other in taken)
        and column.above >= 0
        and column.path
        and (len(column.counts) > 1 or column.words & words.CONTEXT)
    ]
    return _rank((column, _of_context(column)) for column in eligible)


def _of_context(column: Column) -> Iterator[Evidence]:
    strong, weak = column.words & words.CONTEXT, column.words & words.MAYBE_CONTEXT
    if column.all_words & words.REFERENCE:
        yield Evidence(-5, "its name says that people wrote it")
    if column.words & (words.IDENTIFIER | words.LABEL | words.ANNOTATOR | words.SYSTEM):
        yield Evidence(-4, "its name says something else")
    if column.words & words.CANDIDATE:
        yield Evidence(-2, "its name says candidate")
    if strong:
        yield Evidence(3, f"its name says {_told(strong)}")
    elif weak:
        yield Evidence(1, f"its name says {_told(weak)}")
    if column.above > 0:
        yield Evidence(2, "the candidates lie in it")
    elif column.repetition >= _REPEATED:
        yield Evidence(2, f"each of {len(column.counts)} repeats over its candidates")
    if column.length >= _LONG:
        yield Evidence(1, f"it reads like text ({column.length:.0f} characters on average)")
    elif not any(" " in text.strip() for text in column.counts):
        yield Evidence(-3, "its values are single words")


def pick_contexts(ranking: Ranking) -> list[Pick]:
    """Return the parts of the context: all for which there is enough, in the order of the file."""
    best = [pick for points, pick in ranking.found if points > ENOUGH]
    if not best and ranking.clear is not None:
        best = [ranking.clear]
    return best


def find_context_id(columns: Sequence[Column], context: Sequence[Column]) -> Pick | None:
    """Return the source's own key of a context: every value of it stands for one context."""
    contexts = joint(context)
    found = [
        column
        for column in columns
        if column.above >= 0
        and column.kind in ("text", "number")
        and column.filled == column.rows
        and (column.words & words.IDENTIFIER or not column.path)
        and not column.words & (words.ANNOTATOR | words.SYSTEM | words.CANDIDATE)
        and (column.above > 0 or column.repetition >= _REPEATED)
        and all(isinstance(value, str | int) for value in column.values)
        and determines(column.values, contexts)
    ]
    best = max(found, key=lambda column: len(column.counts), default=None)
    return None if best is None else Pick(best, "each of its values stands for one context")


def find_candidate_id(columns: Sequence[Column]) -> Pick | None:
    """Return the source's own key of a candidate: it differs in every row."""
    for column in columns:
        is_key = bool(column.words & words.IDENTIFIER) and column.above == 0
        is_text = all(isinstance(value, str | int) for value in column.values)
        if is_key and is_text and column.path and len(column.counts) == column.rows:
            return Pick(column, "it differs in every row")
    return None


def find_property(
    columns: Sequence[Column], names: frozenset[str], context_keys: Sequence[object]
) -> Pick | None:
    """Return the column of a property that all candidates of a context share, by its name."""
    for column in columns:
        if (
            column.words & names
            and column.above >= 0
            and column.kind == "text"
            and column.filled == column.rows
            and column.is_short
            and len(column.counts) <= _MOST_CATEGORIES
            and column.repetition >= _REPEATED
            and determines(context_keys, column.values)
        ):
            return Pick(
                column, f"its name says {_told(column.words & names)}, and it has few values"
            )
    return None


def _told(found: Iterable[str]) -> str:
    return " and ".join(sorted(found))
