"""WMT24 ESA: scores of translations, after their errors were marked (Kocmi et al. 2024).

Not a `table`: the judgements have no header, and texts are lines of a file for each system.
"""

import re
from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

from nnd.converters import Annotation, Files, Record, SourceError, Span
from nnd.schemas import Cells, as_records, load_json, parse_number, read_text

LANGUAGES = {"cs": "ces", "hi": "hin", "ja": "jpn", "zh": "zho"}
JUDGED = "TGT"  # other rows have errors made on purpose, to control the annotators
CONTROL = re.compile("#|tutorial")  # in the name of a document
COLUMNS = 10  # those that are read
MISSING = "missing"  # in place of a number: an omission


class Rating(NamedTuple):
    """What an annotator gave a translation of a segment."""

    where: str
    document: str
    annotator: str
    score: float
    spans: list[Span]


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per translation of a segment, with its ratings and their mean."""
    pair = files.source.files[0].name.removeprefix("sources/").removesuffix(".txt")
    sources = lines_of(files, f"sources/{pair}.txt")
    documents = [line.split("\t") for line in lines_of(files, f"documents/{pair}.docs")]
    ratings = read_ratings(files, LANGUAGES[pair.removeprefix("en-")])
    texts = {
        system: lines_of(
            files, f"{pair}.{system}.txt" if "ref" in system else f"{pair}/{system}.txt"
        )
        for system in sorted({system for _, system in ratings})
    }
    misplaced = 0
    for (line, system), unordered in ratings.items():
        given = sorted(unordered, key=lambda one: (one.annotator, one.score))
        where, document, *_ = given[0]
        is_there = 0 < line < min(len(sources), len(documents), len(texts[system]))
        if not is_there or documents[line][1:2] != [document]:
            raise SourceError(
                "row.not-in-other-file", f"line {line} of {pair} is not in {document}", where
            )
        scores, text = [one.score for one in given], texts[system][line]
        marked = [span for one in given for span in one.spans]
        spans = [span for span in marked if span.fits(text)]
        misplaced += len(marked) - len(spans)
        yield Annotation(
            where=where,
            context_id=f"{document}/{line}",
            context=sources[line],
            inputs={"source": sources[line]},
            metadata={"document": document, "context_language": pair.partition("-")[0]},
            candidate_id=f"{document}/{line}/{system}",
            candidate=text,
            system=system,
            aspect="translation",
            score=fmean(scores),
            ratings=scores,
            annotators=[one.annotator for one in given],
            category=documents[line][0],
            spans=spans,
        )
    if misplaced:
        files.report(pair, f"spans left out, as they end behind the translation: {misplaced}")


def lines_of(files: Files, name: str) -> list[str]:
    """Return the lines of a text file; the first one is not a segment."""
    return read_text(files.path(name)).split("\n")


def read_ratings(files: Files, language: str) -> dict[tuple[int, str], list[Rating]]:
    """Return the ratings by the line of the segment and the system."""
    found: dict[tuple[int, str], list[Rating]] = {}
    for file in files.source.files:
        if file.name.endswith(".csv"):
            for row in files.cells(file.name, delimiter=",", quoted=True):
                if len(row.values) < COLUMNS:
                    raise SourceError(
                        "file.not-csv",
                        f"{len(row.values)} cells where there must be at least {COLUMNS}",
                        row.where,
                    )
                annotator, system, line, kind, _, target, score, document, _, marked = row.values[
                    :COLUMNS
                ]
                if (kind, target) == (JUDGED, language) and not CONTROL.search(document):
                    key = int(read_number(row, line)), system
                    spans = read_spans(row, marked)
                    rating = Rating(row.where, document, annotator, read_number(row, score), spans)
                    found.setdefault(key, []).append(rating)
    return found


def read_number(row: Cells, cell: str) -> float:
    """Return the number in a cell of a row."""
    return parse_number(cell, row.where)


def read_spans(row: Cells, cell: str) -> list[Span]:
    """Return the marked errors of a translation; one of the source, an omission, has no place."""
    (page,) = as_records([{"spans": load_json(cell, row.where)}], row.where)
    return [read_span(span) for span in page.records("spans")]


def read_span(span: Record) -> Span:
    """Return a marked error; in the file `end_i` is its last character."""
    if span.fields.get("start_i") == MISSING:
        return Span(None, None, severity=span.text("severity"))
    start, last = int(span.number("start_i")), int(span.number("end_i"))
    return Span(start, last + 1, severity=span.text("severity"))
