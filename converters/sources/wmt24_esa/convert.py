"""WMT24 ESA: scores of translations, after their errors were marked (Kocmi et al. 2024).

Not a `table`: the judgements have no header, and texts are lines of a file for each system.
"""

import re
from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

from nnd.converters import Annotation, Files, SourceError
from nnd.converters.reading import Cells, parse_number, read_text

LANGUAGES = {"cs": "ces", "hi": "hin", "ja": "jpn", "zh": "zho"}
JUDGED = "TGT"  # other rows have errors made on purpose, to control the annotators
CONTROL = re.compile("#|tutorial")  # in the name of a document
HIGHEST = 100


class Rating(NamedTuple):
    """What an annotator gave a translation of a segment."""

    where: str
    document: str
    annotator: str
    score: float


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
    for (line, system), unordered in ratings.items():
        given = sorted(unordered, key=lambda one: (one.annotator, one.score))
        where, document, *_ = given[0]
        if max(line, 1) >= min(len(sources), len(documents)) or documents[line][1] != document:
            raise SourceError(
                f"{where}: line {line} of {pair} is not in {document}; check that all files are of "
                "one version"
            )
        scores = [one.score for one in given]
        yield Annotation(
            where=where,
            context_id=f"{document}/{line}",
            context=sources[line],
            inputs={"source": sources[line]},
            candidate_id=f"{document}/{line}/{system}",
            candidate=texts[system][line],
            system=system,
            aspect="translation",
            score=fmean(scores),
            ratings=scores,
            annotators=[one.annotator for one in given],
            category=documents[line][0],
        )


def lines_of(files: Files, name: str) -> list[str]:
    """Return the lines of a text file; the first one is not a segment."""
    return read_text(files.path(name)).split("\n")


def read_ratings(files: Files, language: str) -> dict[tuple[int, str], list[Rating]]:
    """Return the ratings by the line of the segment and the system."""
    found: dict[tuple[int, str], list[Rating]] = {}
    for file in files.source.files:
        if file.name.endswith(".csv"):
            for row in files.cells(file.name, delimiter=",", quoted=True):
                annotator, system, line, kind, _, target, score, document, *_ = row.values
                if (kind, target) == (JUDGED, language) and not CONTROL.search(document):
                    key = int(read_number(row, line)), system
                    rating = Rating(row.where, document, annotator, read_number(row, score))
                    found.setdefault(key, []).append(rating)
    return found


def read_number(row: Cells, cell: str) -> float:
    """Return the number in a cell of a row."""
    return parse_number(cell, row.where)
