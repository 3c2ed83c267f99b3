"""D2T-Eval: spans that people marked in texts about data (Kasner et al. 2025).

Not a `table`: types of spans are numbers, and the data of one domain has another form.
"""

import json
from collections.abc import Iterator

from nnd.converters import Annotation, Files, Record, SourceError, Span

ANNOTATIONS = "test/annotations.jsonl"
SPLIT = "test"  # the other rows are texts for training annotators
PREFIX = "d2t-"  # of the name of a domain
NO_SPAN = "No span"
TYPES = ("Contradictory", "Not checkable", "Misleading", "Incoherent", "Repetitive", "Other")

Key = tuple[str, str, str]
"""Domain, number of the example in it, and system."""


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per text and type of span, whoever marked it."""
    found: dict[Key, tuple[str, set[Span]]] = {}
    for row in files.jsonl(ANNOTATIONS):
        if row.text("split") == SPLIT:
            _, spans = found.setdefault(key_of(row), (row.where, set()))
            spans.update(read_span(span) for span in row.records("annotations"))
    domains = sorted({domain for domain, _, _ in found})
    inputs = {domain: read_inputs(files, domain) for domain in domains}
    texts = {
        key_of(row, system): row.text("output")
        for domain, system in sorted({(domain, system) for domain, _, system in found})
        for row in files.jsonl(f"{PREFIX}{domain}-{system}-test.jsonl")
    }
    for key, (where, spans) in found.items():
        domain, number, system = key
        if key not in texts or int(number) >= len(inputs[domain]):
            raise SourceError(
                "row.not-in-other-file",
                f"example {number} of {domain} has no text of {system}, or no data",
                where,
            )
        data = inputs[domain][int(number)]
        for label in sorted({str(span.label) for span in spans}) or [NO_SPAN]:
            yield Annotation(
                where=where,
                context_id=f"{domain}/{number}",
                context=data,
                inputs={"data": data},
                category=domain,
                candidate_id=f"{domain}/{number}/{system}",
                candidate=texts[key],
                system=system,
                aspect="accuracy",
                label=label,
                spans=sorted(span for span in spans if span.label == label),
            )


def key_of(row: Record, system: str | None = None) -> Key:
    """Return what a row is about; some files spell the system in another way."""
    domain = row.text("dataset").removeprefix(PREFIX)
    return domain, row.identifier("example_idx"), system or row.text("setup_id")


def read_span(span: Record) -> Span:
    """Return a span, whose type is a number in the file."""
    start = int(span.number("start"))
    label = TYPES[int(span.rating("type", 0, len(TYPES) - 1))]
    return Span(start, start + len(span.text("text")), label)


def read_inputs(files: Files, domain: str) -> list[str]:
    """Return the data of each example of a domain, as JSON on one line."""
    pages = list(files.json(f"{PREFIX}{domain}/test.json"))
    if "forecasts" in pages[0].fields:  # one object with a list, instead of the list
        pages = list(pages[0].records("forecasts"))
    return [json.dumps(page.fields, ensure_ascii=False) for page in pages]
