"""Rows that are pairs: one text of a row is better than the other.

Both become annotations of one group. The better one is labelled `better`, the other one with its
error categories or `worse`. Either the columns `high` and `low` hold the texts, or a column states
which of `first` and `second` is better, or that they tie.

Rows with such a verdict about the same two candidates of a context are votes on one pair, in either
order. The candidate with more votes is better. Equal votes make no pair, but are kept as ratings if
annotators or strengths are named.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nnd.converters import Annotation, Span
from nnd.converters.source.source_files import Files
from nnd.converters.source.table.row_cells import Row, RowReader, add_candidate, digest
from nnd.converters.source.table.section import Table, as_texts, title_of
from nnd.schemas import SourceError, count_words, shown, word_differences

BETTER = "better"
WORSE = "worse"

_SIGNS = {"first": 1, "second": -1, "tie": 0}


@dataclass(slots=True)
class JudgedPair:
    """The two candidates of a row, and the votes on them in this and later rows."""

    sides: tuple[Annotation, Annotation]  # in the order of the section's columns
    categories: list[str]  # error categories of the worse candidate
    # The strength of each vote: above zero for the first side, below for the second.
    votes: list[float] = field(default_factory=list)
    annotators: list[str] = field(default_factory=list)  # the voters, if the table names them

    @property
    def net(self) -> int:
        """Number of votes for the first side minus those for the second."""
        return sum((vote > 0) - (vote < 0) for vote in self.votes)


def pair_annotations(
    rows: Iterable[Row], table: Table, aspect: str, files: Files
) -> Iterator[Annotation]:
    """Yield the annotations of the pairs that the rows decide; report verdicts and ties."""
    pairs, counts = table["pairs"], Counter[str]()
    if "high" in pairs:
        for _, pair in _read_pairs(rows, table, ("high", "low")):
            edited = pairs.get("edited", False)
            yield from _annotate_pair(*pair.sides, pair.categories, aspect, edited=edited)
        return
    verdicts = {
        cell: verdict for verdict, cells in pairs["values"].items() for cell in as_texts(cells)
    }
    judged: dict[tuple[str, str, str | None], JudgedPair] = {}
    for row, pair in _read_pairs(rows, table, ("first", "second")):
        side = pair.sides[0]
        known = judged.setdefault((side.split, side.context_id, side.group), pair)
        turn = -1 if _is_turned(pair, known) else 1
        _vote(row, known, turn, counts, columns=pairs, verdicts=verdicts)
        known.categories += [each for each in pair.categories if each not in known.categories]
    undecided = sum(pair.net == 0 for pair in judged.values())
    counts["pairs with equal votes for both sides, left out"] = undecided
    for what, n in counts.items():
        if n:
            files.report(title_of(table, files.source), f"{what}: {n}")
    has_scores = "strength" in pairs or "annotator" in pairs
    for key in list(judged):
        pair = judged.pop(key)  # frees memory for the annotations
        if pair.net or has_scores:
            yield from _annotate_votes(pair, aspect, has_scores=has_scores)


def _read_pairs(
    rows: Iterable[Row], table: Table, names: tuple[str, str]
) -> Iterator[tuple[Row, JudgedPair]]:
    """Yield each row with its two candidates, which have these names in `pairs`."""
    pairs, reader = table["pairs"], RowReader(table)
    sides = [{"candidate": one} if isinstance(one := pairs[name], str) else one for name in names]
    for row in rows:
        context = reader.context(row)
        if "context_id" not in table.get("columns", {}) and not context.context.strip():
            # A pair without a context is a cluster of its own.
            texts = sorted(row.text(columns["candidate"]) for columns in sides)
            context = context._replace(context_id=digest([context.context_id, *texts]))
        own_id = row.text(pairs["id"]) if "id" in pairs else None
        ids = [None if own_id is None else f"{own_id}/{name}" for name in names]
        one, other = (add_candidate(context, row, *side) for side in zip(sides, ids, strict=True))
        group = digest(sorted((one.candidate_id, other.candidate_id))) if own_id is None else own_id
        categories = row.texts(pairs["category"]) if "category" in pairs else []
        yield row, JudgedPair((one._replace(group=group), other._replace(group=group)), categories)


def _vote(
    row: Row,
    pair: JudgedPair,
    turn: int,
    counts: Counter[str],
    *,
    columns: Mapping[str, Any],
    verdicts: Mapping[str, str],
) -> None:
    verdict = _read_verdict(row, columns["better"], verdicts)
    strength = _read_strength(row, columns["strength"]) if "strength" in columns else 1.0
    pair.votes.append(_SIGNS[verdict] * strength * turn)
    if "annotator" in columns:
        annotator = row.filled(columns["annotator"])
        if annotator in pair.annotators:
            raise SourceError(
                "row.twice",
                f"{shown(annotator)} judges these two texts for the second time (first: "
                f"{pair.sides[0].where})",
                row.place(columns["annotator"]),
            )
        pair.annotators.append(annotator)
    counts[f"verdicts {verdict}"] += 1
    if "strength" in columns and verdict != "tie":
        counts[f"verdicts of strength {strength:g}"] += 1


def _is_turned(pair: JudgedPair, first: JudgedPair) -> bool:
    """Say whether a row names the two texts of a pair in the reverse order of its first row."""
    texts, known = ([(side.candidate, side.system) for side in one.sides] for one in (pair, first))
    if texts not in (known, known[::-1]):
        raise SourceError(
            "row.contradiction",
            f"the pair has other texts or systems than in {first.sides[0].where}",
            pair.sides[0].where,
            "give each pair its own key, or correct them",
        )
    return texts != known


def _read_verdict(row: Row, column: str, verdicts: Mapping[str, str]) -> str:
    cell = row.filled(column)
    if cell in verdicts:
        return verdicts[cell]
    raise SourceError(
        "cell.unknown-value",
        f"the verdict {shown(cell)} is unknown, only {', '.join(map(shown, verdicts))}",
        row.place(column),
        "correct the cell, or add it to `values` in source.yaml",
    )


def _read_strength(row: Row, column: str) -> float:
    strength = row.number(column)
    if strength is None:
        return 1.0
    if strength <= 0:
        raise SourceError(
            "cell.out-of-range", f"a strength of {strength:g} is not above 0", row.place(column)
        )
    return strength


def _annotate_votes(pair: JudgedPair, aspect: str, *, has_scores: bool) -> Iterator[Annotation]:
    """Yield the annotations of a pair; a tie has only votes, which show how far people agree."""
    votes, (one, other) = pair.votes, pair.sides
    if has_scores:
        annotators = pair.annotators or None
        against = [-vote for vote in votes]
        one = one._replace(ratings=votes, annotators=annotators)
        other = other._replace(ratings=against, annotators=annotators)
    if not pair.net:
        if one.candidate_id != other.candidate_id:  # not the same text twice
            yield from (one._replace(aspect=aspect), other._replace(aspect=aspect))
        return
    better, worse = (one, other) if pair.net > 0 else (other, one)
    if better.ratings is not None:
        better = better._replace(score=sum(better.ratings) / len(better.ratings))
        worse = worse._replace(score=0.0)
    yield from _annotate_pair(better, worse, pair.categories, aspect)


def _annotate_pair(
    better: Annotation,
    worse: Annotation,
    categories: list[str],
    aspect: str,
    *,
    edited: bool = False,
) -> Iterator[Annotation]:
    """Yield the annotations of a pair under an aspect; the worse one may have error categories.

    If one text was `edited` into the other, the words that differ are the spans of its errors.
    """
    if better.candidate_id == worse.candidate_id:  # the same text twice
        better, worse = (
            side._replace(candidate_id=f"{side.candidate_id}/{label}")
            for side, label in ((better, BETTER), (worse, WORSE))
        )
    yield better._replace(aspect=aspect, label=BETTER, spans=[] if edited else None)
    for label in categories or [WORSE]:
        spans = _edited_words(worse.candidate, better.candidate, label) if edited else None
        yield worse._replace(aspect=aspect, label=label, spans=spans)


def _edited_words(worse: str, better: str, label: str) -> list[Span] | None:
    """Return where the words differ from those of the better text; None if more than half do.

    Words that only the better text has make a span without a place.
    """
    changes = word_differences(worse, better)
    places = [(change.start, change.end) for change in changes]
    differing = sum(count_words(worse[start:end]) for start, end in places if start is not None)
    if 2 * differing > count_words(worse):
        return None
    return [Span(start, end, label, derived=True) for start, end in places]
