"""FaithBench: statements of summaries that the passage does not support (Bao et al. 2025).

Not a `table`: the labels of a summary are lists within lists, of which some imply others.
"""

import hashlib
from collections.abc import Iterator

from nnd.converters import Annotation, Files, Record, Span

CONSISTENT = "Consistent"
BENIGN = "Benign"
KINDS = {"Unwanted.Intrinsic", "Unwanted.Extrinsic"}  # each with the label "Unwanted" as well
BINARY = "binary"  # a variant
OPENING = 40  # characters that only passages from one article have in common


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per summary and label."""
    is_binary = files.source.variant == BINARY
    for file in files.source.files:
        for batch in files.json(file.name):
            for sample in batch.records("samples"):
                yield from annotate(sample, is_binary=is_binary)


def annotate(sample: Record, *, is_binary: bool) -> Iterator[Annotation]:
    """Yield the annotations of a summary; without a label if its statements are benign only."""
    passage, summary = sample.text("source"), sample.text("summary")
    context_id = hashlib.sha256(passage.encode(errors="surrogatepass")).hexdigest()[:16]
    system = sample.record("metadata").text("summarizer")
    statements = [*sample.records("annotations")]
    spans = {span for each in statements for span in spans_of(each, summary)}
    errors = sorted({str(span.label) for span in spans})
    is_unclear = bool(statements) and not errors and not is_binary
    labels: list[str] | list[None] = [None] if is_unclear else errors or [CONSISTENT]
    for label in labels:
        yield Annotation(
            where=sample.where,
            context_id=context_id,
            context=passage,
            inputs={"passage": passage},
            metadata={"opening": " ".join(passage.split())[:OPENING]},
            candidate_id=f"{context_id}/{system}",
            candidate=summary.strip(),
            system=system,
            aspect="faithfulness",
            label=label,
            spans=sorted(span for span in spans if span.label == label),
        )


def spans_of(statement: Record, summary: str) -> Iterator[Span]:
    """Yield the place of a statement, without the spaces around the summary, with each label."""
    offset, most = len(summary) - len(summary.lstrip()), len(summary.strip())
    start, end = (int(statement.number(f"summary_{side}")) - offset for side in ("start", "end"))
    labels = set(statement.texts("label")) - {BENIGN}
    for label in labels - {"Unwanted"} if labels & KINDS else labels:
        yield Span(max(start, 0), min(end, most), label)
