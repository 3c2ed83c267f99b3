"""FaithBench: statements of summaries that the passage does not support (Bao et al. 2025).

Not a `table`: the labels of a summary are lists within lists, of which some imply others.
"""

import hashlib
from collections.abc import Iterator

from nnd.converters import Annotation, Files, Record

CONSISTENT = "Consistent"
BENIGN = "Benign"
KINDS = {"Unwanted.Intrinsic", "Unwanted.Extrinsic"}  # each with the label "Unwanted" as well
BINARY = "binary"  # a variant


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per summary and label."""
    is_binary = files.source.variant == BINARY
    for file in files.source.files:
        for batch in files.json(file.name):
            for sample in batch.records("samples"):
                yield from annotate(sample, is_binary=is_binary)


def annotate(sample: Record, *, is_binary: bool) -> Iterator[Annotation]:
    """Yield the annotations of a summary; without a label if its statements are benign only."""
    passage = sample.text("source")
    context_id = hashlib.sha256(passage.encode()).hexdigest()[:16]
    system = sample.record("metadata").text("summarizer")
    for label in labels_of([*sample.records("annotations")], is_binary=is_binary):
        yield Annotation(
            where=sample.where,
            context_id=context_id,
            context=passage,
            inputs={"passage": passage},
            candidate_id=f"{context_id}/{system}",
            candidate=sample.text("summary").strip(),
            system=system,
            aspect="faithfulness",
            label=label,
        )


def labels_of(marked: list[Record], *, is_binary: bool) -> list[str] | list[None]:
    """Return the labels of a summary, given its annotated statements."""
    found: set[str] = set()
    for statement in marked:
        labels = set(statement.texts("label"))
        found |= labels - {"Unwanted"} if labels & KINDS else labels
    errors = sorted(found - {BENIGN})
    if errors:
        return errors
    return [None] if marked and not is_binary else [CONSISTENT]
