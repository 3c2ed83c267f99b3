"""Quintd-1: spans that crowd workers marked in texts about data (Kasner and Dusek 2024).

Not a `table`: types of spans are numbers, whose names no column has.
"""

from collections.abc import Iterator, Mapping

from nnd.converters import Annotation, Files, Record, SourceError, Span
from nnd.schemas import as_records, load_json, read_text

ANNOTATIONS = "human/*.jsonl"
NO_SPAN = "No span"
TYPES = ("Incorrect", "Not checkable", "Misleading", "Other")


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per text and type of span."""
    misplaced = 0
    outputs = {
        file.name: read_texts(files, file.name)
        for file in files.source.files
        if file.name != ANNOTATIONS and files.has(file.name)
    }
    for row in files.jsonl(ANNOTATIONS):
        domain, number, system = (
            row.identifier(name) for name in ("dataset", "table_idx", "model")
        )
        output = text_of(row, outputs, f"{domain}/default/{system}.json", int(number))
        prompt = output.text("in")
        text = output.text("out")
        marked = [read_span(span) for span in row.records("annotations")]
        fitting = [span for span, words in marked if span.fits(text, words)]
        misplaced += len(marked) - len(fitting)
        for label in sorted({str(span.label) for span, _ in marked}) or [NO_SPAN]:
            yield Annotation(
                where=row.where,
                context_id=f"{domain}/{number}",
                context=prompt,
                inputs={"prompt": prompt},
                category=domain,
                candidate_id=f"{domain}/{number}/{system}",
                candidate=text,
                system=system,
                aspect="accuracy",
                label=label,
                spans=[span for span in fitting if span.label == label],
            )
    if misplaced:
        files.report(
            ANNOTATIONS, f"spans left out, whose words are not at their place: {misplaced}"
        )


def read_texts(files: Files, name: str) -> list[Record]:
    """Return the texts of a system about a domain, whose place in the file is their key."""
    pages = as_records(load_json(read_text(files.path(name)), name), name)
    return [text for page in pages for text in page.records("generated")]


def text_of(row: Record, outputs: Mapping[str, list[Record]], name: str, number: int) -> Record:
    """Return the prompt and the text that a row is about."""
    texts = outputs.get(name, [])
    if number < len(texts):
        return texts[number]
    raise SourceError(
        "row.not-in-other-file",
        f"text {number} is not in {name}, which has {len(texts)}",
        row.where,
    )


def read_span(span: Record) -> tuple[Span, str]:
    """Return a span, whose type is a number in the file, and the words that it marks."""
    words, start = span.text("text"), int(span.number("start"))
    label = TYPES[int(span.rating("type", 0, len(TYPES) - 1))]
    return Span(start, start + len(words), label), words
