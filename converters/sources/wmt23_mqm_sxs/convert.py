"""WMT 2023, side by side: errors that three raters marked in each translation (Google, 2025).

Not a `table`: what follows the severity is no table, texts of a key must agree, and checks of the
raters are counted.
"""

import re
from collections.abc import Iterator

from nnd.converters import Annotation, Files, SourceError, Span, read_mark
from nnd.schemas import Cells, shown

COLUMNS = ["system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category"]
SEVERITY = 8  # the column after it, most of the file, records what a rater looked at
NO_ERROR = "No-error"
SEVERITIES = {NO_ERROR, "Minor", "Major"}
CHECK = "HOTW-test"  # an error planted to test the rater's attention, not one of the translation

LANGUAGE = re.compile("(?<=_)[a-z]{2}(?=[a-z]{2}[.])")  # of the source, in the file's name
SIDE = re.compile(r" \(Translation( 2)?\)$")  # which of the two on the screen lacks something


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per translation, rater and category of errors."""
    read = [(row, mark) for row, mark in read_rows(files) if row.values[SEVERITY] != CHECK]
    rows = [row for row, _ in read]
    segments = one_text_each(rows, [1, 2, 3], 5)
    translations = one_text_each(rows, [1, 2, 3, 0], 6)
    misplaced = 0
    given: dict[tuple[str, str, str], tuple[Cells, list[Span]]] = {}
    for row, place in read:
        cells = row.values
        segment, label = "/".join(cells[1:4]), SIDE.sub("", cells[7])
        _, spans = given.setdefault((f"{segment}/{cells[0]}", cells[4], label), (row, []))
        if cells[SEVERITY] != NO_ERROR:
            text = translations[f"{segment}/{cells[0]}"]
            start, end = (None, None) if place is None else (place[0], min(place[1], len(text)))
            span = Span(start, end, label, cells[SEVERITY])
            fits = span.fits(text)
            spans += [span] if fits else []
            misplaced += not fits
    language = "".join(LANGUAGE.findall(files.source.files[0].name))
    if misplaced:
        name = files.source.files[0].name
        files.report(name, f"spans left out, which are a blank behind the translation: {misplaced}")
    for (candidate, rater, label), ((where, cells), spans) in given.items():
        segment = "/".join(cells[1:4])
        yield Annotation(
            where=where,
            context_id=segment,
            context=segments[segment],
            inputs={"source": segments[segment]},
            metadata={"document": cells[1], "context_language": language},
            candidate_id=candidate,
            candidate=translations[candidate],
            system=cells[0],
            group=rater,
            aspect="translation",
            label=label,
            annotators=[rater],
            spans=spans,
        )


def read_rows(files: Files) -> Iterator[tuple[Cells, tuple[int, int] | None]]:
    """Yield the rows up to the severity, without marks, and the place that the translation's marks.

    Nothing is quoted.
    """
    name = files.source.files[0].name
    for member in files.members(name):
        rows = files.cells(name, delimiter="\t", quoted=False, even=False, member=member)
        check_header(next(rows, Cells(f"{member}:1", [])))
        checks = 0
        for row in rows:
            check_row(row)
            checks += row.values[SEVERITY] == CHECK
            marked = [read_mark(cell) for cell in row.values[: SEVERITY + 1]]
            yield Cells(row.where, [each.text for each in marked]), marked[6].place
        if checks:
            files.report(member, f"rows of attention checks ({CHECK}), left out: {checks}")


def check_header(header: Cells) -> None:
    """Raise a SourceError for a file that has other columns."""
    if header.values[: SEVERITY + 1] != [*COLUMNS, "severity"]:
        raise SourceError(
            "file.another-kind",
            f"the columns do not begin with {', '.join(COLUMNS)}, severity",
            header.where,
            "check that this is a sxs_mqm_*.tsv.tar.gz of google/wmt-mqm-human-evaluation",
        )


def check_row(row: Cells) -> None:
    """Raise a SourceError for a row that was cut off, or shifted by a tab in one of its texts."""
    if len(row.values) <= SEVERITY:
        raise SourceError(
            "file.not-csv", f"{len(row.values)} cells where there must be 10", row.where
        )
    if row.values[SEVERITY] not in SEVERITIES | {CHECK}:
        raise SourceError(
            "cell.unknown-value",
            f"severity {shown(row.values[SEVERITY])} is not known, only "
            f"{', '.join(sorted(SEVERITIES))} and {CHECK}",
            row.where,
            "correct the row if a tab in its texts shifts it, else add the severity to convert.py",
        )


def one_text_each(rows: list[Cells], key: list[int], column: int) -> dict[str, str]:
    """Return the text of every key; in some of its rows a blank may follow it."""
    texts: dict[str, str] = {}
    for where, cells in rows:
        name, text = "/".join(cells[place] for place in key), cells[column]
        known = texts.setdefault(name, text)
        if known.rstrip() != text.rstrip():
            raise SourceError(
                "row.contradiction", f"{name} has another text in an earlier row", where
            )
        texts[name] = min(known, text, key=len)
    return texts
