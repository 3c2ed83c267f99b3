"""Preferences: a column states which of two texts is better, or that they tie.

Rows about the same two candidates of a context are votes on one pair, in either order. The
candidate with more votes is better. Equal votes make no pair, but are kept as ratings if
annotators or strengths are named.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nnd.converters import Annotation
from nnd.converters.reading import shown
from nnd.converters.source.source_files import Files
from nnd.converters.source.table.pair_rows import PairReader, PairRow, annotate_pair
from nnd.converters.source.table.row_cells import Row
from nnd.converters.source.table.section import Table, as_texts, title_of
from nnd.schemas import SourceError

_SIDES = ("first", "second")
_SIGNS = {"first": 1, "second": -1, "tie": 0}


@dataclass(slots=True)
class Ballot:
    """The votes on one pair."""

    pair: PairRow  # the pair as in its first row
    # The strength of each vote: above zero for the first side, below for the second.
    votes: list[float] = field(default_factory=list)
    annotators: list[str] = field(default_factory=list)  # the voters, if the table names them

    @property
    def net(self) -> int:
        """Number of votes for the first side minus those for the second."""
        return sum((vote > 0) - (vote < 0) for vote in self.votes)


def vote_annotations(
    rows: Iterable[Row], table: Table, aspect: str, files: Files
) -> Iterator[Annotation]:
    """Yield the annotations of the pairs that the rows decide; report verdicts and ties."""
    pairs, counts = table["pairs"], Counter[str]()
    verdicts = {
        cell: verdict for verdict, cells in pairs["values"].items() for cell in as_texts(cells)
    }
    ballots: dict[tuple[str, str, str | None], Ballot] = {}
    reader = PairReader(table, _SIDES)
    for row in rows:
        _cast(row, reader, ballots, counts, columns=pairs, verdicts=verdicts)
    undecided = sum(ballot.net == 0 for ballot in ballots.values())
    counts["pairs with equal votes for both sides, left out"] = undecided
    for what, n in counts.items():
        if n:
            files.report(title_of(table, files.source), f"{what}: {n}")
    has_scores = "strength" in pairs or "annotator" in pairs
    for key in list(ballots):
        ballot = ballots.pop(key)  # frees memory for the annotations
        if ballot.net or has_scores:
            yield from _annotate(ballot, aspect, has_scores=has_scores)


def _cast(
    row: Row,
    reader: PairReader,
    ballots: dict[tuple[str, str, str | None], Ballot],
    counts: Counter[str],
    *,
    columns: Mapping[str, Any],
    verdicts: Mapping[str, str],
) -> None:
    verdict = _read_verdict(row, columns["better"], verdicts)
    strength = _read_strength(row, columns["strength"]) if "strength" in columns else 1.0
    pair = reader.read(row)
    first = pair.sides[0]
    key = (first.split, first.context_id, first.group)
    ballot = ballots.get(key) or ballots.setdefault(key, Ballot(pair))
    turn = -1 if _is_turned(pair, ballot.pair) else 1
    ballot.votes.append(_SIGNS[verdict] * strength * turn)
    if "annotator" in columns:
        annotator = row.filled(columns["annotator"])
        if annotator in ballot.annotators:
            raise SourceError(
                f"{row.place(columns['annotator'])}: {shown(annotator)} judges these two texts "
                f"for the second time (first: {ballot.pair.sides[0].where}); keep one of the rows"
            )
        ballot.annotators.append(annotator)
    known = ballot.pair.categories
    known += [category for category in pair.categories if category not in known]
    counts[f"verdicts {verdict}"] += 1
    if "strength" in columns and verdict != "tie":
        counts[f"verdicts of strength {strength:g}"] += 1


def _is_turned(pair: PairRow, first: PairRow) -> bool:
    """Say whether a row names the two texts of a pair in the reverse order of its first row."""
    texts, known = ([(side.candidate, side.system) for side in one.sides] for one in (pair, first))
    if texts not in (known, known[::-1]):
        raise SourceError(
            f"{pair.sides[0].where}: the pair has other texts or systems than in "
            f"{first.sides[0].where}; give each pair its own key, or correct them"
        )
    return texts != known


def _read_verdict(row: Row, column: str, verdicts: Mapping[str, str]) -> str:
    cell = row.filled(column)
    if cell in verdicts:
        return verdicts[cell]
    raise SourceError(
        f"{row.place(column)}: the verdict {shown(cell)} is unknown, only "
        f"{', '.join(map(shown, verdicts))}; correct the cell, or add it to `values` in source.yaml"
    )


def _read_strength(row: Row, column: str) -> float:
    strength = row.number(column)
    if strength is None:
        return 1.0
    if strength <= 0:
        raise SourceError(
            f"{row.place(column)}: a strength of {strength:g} is not above 0; correct the cell: "
            "the verdict says which text is better, the strength by how much"
        )
    return strength


def _annotate(ballot: Ballot, aspect: str, *, has_scores: bool) -> Iterator[Annotation]:
    """Yield the annotations of a pair; a tie has only votes, which show how far people agree."""
    votes, (one, other) = ballot.votes, ballot.pair.sides
    if has_scores:
        annotators = ballot.annotators or None
        against = [-vote for vote in votes]
        one = one._replace(ratings=votes, annotators=annotators)
        other = other._replace(ratings=against, annotators=annotators)
    if not ballot.net:
        if one.candidate_id != other.candidate_id:  # not the same text twice
            yield from (one._replace(aspect=aspect), other._replace(aspect=aspect))
        return
    better, worse = (one, other) if ballot.net > 0 else (other, one)
    if better.ratings is not None:
        better = better._replace(score=sum(better.ratings) / len(better.ratings))
        worse = worse._replace(score=0.0)
    yield from annotate_pair(better, worse, ballot.pair.categories, aspect)
