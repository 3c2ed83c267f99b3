"""WMT MQM: errors that professional translators marked in translations (Freitag et al. 2021).

Not a `table`: columns have several names, and texts of a segment that differ are numbered.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from nnd.converters import Annotation, Files, SourceError, Span, read_mark
from nnd.converters.source import NamedText, number_texts
from nnd.schemas import Cells, shown

# The third and fourth column have several names, and the tenth (a comment) is not always there.
COLUMNS = {0: "system", 1: "doc", 4: "rater", 5: "source", 6: "target", 7: "category"}
SEVERITY = 8
NO_ERROR = "No-error"
SEVERITIES = (NO_ERROR, "Neutral", "Minor", "Major", "Critical")

# Weights of errors (Freitag et al. 2021, table 4); that of critical ones, which their data does not
# have, is the multiplier of the MQM framework.
WEIGHTS = {"no-error": 0.0, "neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 25.0}
NON_TRANSLATION, MINOR_PUNCTUATION = 25.0, 0.1

QUOTED = re.compile('".*"".*"')


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per translation and label, however many raters and marks gave it.

    The label is the category of an error, or its severity in the variants called so. In the variant
    `mqm` there is none, and a rating for each rater: minus the weights of the errors marked.
    """
    main = files.source.files[0].name
    context_language, language = read_languages(files, files.path(main))
    variant = files.source.variant or ""
    is_severity, is_scored = variant.startswith("severity"), variant == "mqm"
    names = {label.casefold(): label for label in (NO_ERROR, *files.source.taxonomy)}
    read = list(read_rows(files, main))
    rows = [row for row, _ in read]
    contexts = number_texts(("/".join(cells[1:4]), cells[5]) for _, cells in rows)
    keys = [contexts["/".join(cells[1:4]), cells[5]] for _, cells in rows]
    candidates = number_texts(
        (f"{key.name}/{cells[0]}", cells[6]) for key, (_, cells) in zip(keys, rows, strict=True)
    )
    first: dict[tuple[NamedText, str], tuple[NamedText, Cells]] = {}
    raters: dict[tuple[NamedText, str], dict[str, float]] = {}
    spans: dict[tuple[NamedText, str], list[Span]] = {}
    misplaced = 0
    for context, (row, place) in zip(keys, read, strict=True):
        cells = row.values
        candidate = candidates[f"{context.name}/{cells[0]}", cells[6]]
        label = cells[SEVERITY if is_severity else 7].strip().removesuffix("/-")
        is_error = label.casefold() != NO_ERROR.casefold()
        label = "" if is_scored else names.get(label.casefold(), label)
        first.setdefault((candidate, label), (context, row))
        scores = raters.setdefault((candidate, label), {})
        scores[cells[4]] = scores.get(cells[4], 0.0) - (weight(row) if is_scored else 0.0)
        known = spans.setdefault((candidate, label), [])
        if is_error:
            start, end = place or (None, None)
            span = Span(start, end, cells[7].strip(), cells[SEVERITY].strip())
            words = None if place is None else cells[6][slice(*place)]
            known += [span] if span.fits(candidate.text, words) else []
            misplaced += not span.fits(candidate.text, words)
    for (candidate, label), (context, (where, cells)) in first.items():
        judged = dict(sorted(raters[candidate, label].items()))
        yield Annotation(
            where=where,
            context_id=context.name,
            context=context.text,
            inputs={"source": context.text},
            metadata={"context_language": context_language, "document": cells[1]},
            candidate_id=candidate.name,
            candidate=candidate.text,
            system=cells[0],
            aspect="translation",
            label=label or None,
            ratings=[*judged.values()] if is_scored else None,
            annotators=[*judged],
            language=language,
            spans=spans[candidate, label],
        )
    if misplaced:
        files.report(
            main, f"spans left out, as another row has the text with less white space: {misplaced}"
        )
    for what, found in (("segments", contexts), ("translations", candidates)):
        if several := sum(named.name.endswith("#2") for named in set(found.values())):
            files.report(main, f"{what} with several texts, each read as one of its own: {several}")


def read_rows(files: Files, name: str) -> Iterator[tuple[Cells, tuple[int, int] | None]]:
    """Yield the rows without marks, and the place of the mark in the translation, if it has one.

    Nothing is quoted, and tabs in a comment belong to it. Some marks lack their other half.
    """
    rows = files.cells(name, delimiter="\t", quoted=False, even=False)
    check_header(next(rows, Cells(f"{name}:1", [])))
    overlong = quoted = 0
    for row in rows:
        check_row(row)
        overlong += len(row.values) > SEVERITY + 2
        quoted += any(map(QUOTED.fullmatch, row.values[5:7]))
        marked = [read_mark(cell) for cell in row.values]
        yield Cells(row.where, [each.text for each in marked]), marked[6].place
    if overlong:
        files.report(name, f"comments with a tab in them, read as comments: {overlong}")
    if quoted:
        files.report(name, f"rows with a text that looks quoted as in CSV, left as it is: {quoted}")


def weight(row: Cells) -> float:
    """Return the weight of a marked error."""
    category, severity = (row.values[at].strip().casefold() for at in (7, SEVERITY))
    if category.startswith("non-translation"):
        return NON_TRANSLATION
    if (category, severity) == ("fluency/punctuation", "minor"):
        return MINOR_PUNCTUATION
    return WEIGHTS[severity]


def check_header(header: Cells) -> None:
    """Raise a SourceError for a file that has other columns."""
    found = dict(enumerate(header.values))
    wrong = [name for place, name in COLUMNS.items() if found.get(place) != name]
    if wrong or found.get(SEVERITY) != "severity":
        raise SourceError(
            "file.another-kind",
            "the columns are not system, doc, two numbers of the segment, rater, source, "
            "target, category, severity and perhaps a comment",
            header.where,
            "check that this is an mqm_*.tsv file of google/wmt-mqm-human-evaluation",
        )


def check_row(row: Cells) -> None:
    """Raise a SourceError for a row that was cut off, or shifted by a tab in one of its texts."""
    if len(row.values) <= SEVERITY:
        raise SourceError(
            "file.not-csv", f"{len(row.values)} cells where there must be 9 or 10", row.where
        )
    severity = row.values[SEVERITY].strip()
    if severity.casefold() not in map(str.casefold, SEVERITIES):
        raise SourceError(
            "cell.unknown-value",
            f"severity {shown(severity)} is not known, only {', '.join(SEVERITIES)}",
            row.where,
            "correct the row if a tab in its texts shifts it, else add the severity to convert.py",
        )


def read_languages(files: Files, path: Path) -> tuple[str, str]:
    """Return the languages of segments and translations by a file's name (…_zhen.tsv → zh, en).

    It is the declared name for a set, whose file may have any name.
    """
    languages = files.source.facts["languages"]
    name = files.source.files[0].name if "set" in files.source.facts else path.name
    pair = re.search(r"[_.-]([a-z]{2})-?([a-z]{2})$", name.partition(".")[0])
    if pair is None:
        raise SourceError(
            "file.another-kind",
            "the name does not end in a language pair",
            path,
            "name it like mqm_ted_zhen.tsv, or choose a set with --set",
        )
    if pair[2] not in languages:
        files.report(path.name, f"translations into {pair[2]}, going by the name of the file")
    return pair[1], pair[2]
