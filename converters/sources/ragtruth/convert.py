"""RAGTruth: spans that people marked in answers of language models (Niu et al. 2024)."""

from collections.abc import Iterator

from nnd.converters import Annotation, Files, Record, SourceError

RESPONSES, SOURCES = "response.jsonl", "source_info.jsonl"
GOOD = "good"  # of the quality; other responses refuse to answer, or break off
NO_SPAN = "no span"


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per response and type of the spans that are marked in it."""
    sources = read_sources(files)
    others = 0
    for row in files.jsonl(RESPONSES):
        if row.text("quality") != GOOD:
            others += 1
            continue
        source = source_of(row, sources)
        spans = [span.text("label_type") for span in row.records("labels")]
        for label in dict.fromkeys(spans or [NO_SPAN]):
            yield Annotation(
                where=row.where,
                context_id=source.identifier("source_id"),
                context=source.text("prompt"),
                inputs={"prompt": source.text("prompt")},
                category=source.text("task_type"),
                metadata={"source": source.text("source")},
                candidate_id=row.identifier("id"),
                candidate=row.text("response"),
                system=row.text("model"),
                aspect="groundedness",
                label=label,
                split=row.text("split"),
            )
    if others:
        files.report(RESPONSES, f"responses whose quality is not {GOOD}, left out: {others}")


def read_sources(files: Files) -> dict[str, Record]:
    """Return the rows of source_info.jsonl by their keys."""
    sources: dict[str, Record] = {}
    for row in files.jsonl(SOURCES):
        key = row.identifier("source_id")
        if key in sources:
            raise SourceError(
                f"{row.where}: source_id {key} is in an earlier row, {sources[key].where}, too; "
                "keep one of them"
            )
        sources[key] = row
    return sources


def source_of(row: Record, sources: dict[str, Record]) -> Record:
    """Return what a response was written from."""
    key = row.identifier("source_id")
    if key not in sources:
        raise SourceError(
            f"{row.where}: source_id {key} is not in {SOURCES}; fetch both files of one release"
        )
    return sources[key]
