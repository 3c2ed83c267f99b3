"""GPT-3 news: which of three summaries people liked best and least (Goyal et al. 2022).

Not a `table`: an annotator may name several summaries, which is counted and reported.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from nnd.converters import Annotation, Files, Record, SourceError

ZIP = "human_annotations.zip"
FILES = {"cnn": "cnn_human.json", "bbc": "bbc_human.json"}
NO_SYSTEM = {"article", "annotators"}  # the other fields of a document are systems
VOTES = {"best_summary": 1, "worst_summary": -1}
EVERY_NAME = "every_name"  # a variant


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per summary; its score is its net votes."""
    is_packed = files.source.files[0].name == ZIP
    names = None if files.source.variant == EVERY_NAME else 1
    for split, name in FILES.items():
        for page in files.json(ZIP, member=name) if is_packed else files.json(name):
            documents = {document_id: page.record(document_id) for document_id in page.fields}
            for document_id, document in documents.items():
                yield from annotate(document_id, document, split, names)
            report_several(files, page.where, documents.values())


def annotate(
    document_id: str, document: Record, split: str, names: int | None
) -> Iterator[Annotation]:
    """Yield the annotations of a document's summaries.

    Only the first `names` names of a list count; None: all.
    """
    article = document.text("article")
    systems = [field for field in document.fields if field not in NO_SYSTEM]
    votes = [count_votes(annotator, systems, names) for annotator in document.records("annotators")]
    for system in systems:
        summary = document.record(system)
        ratings = [float(vote[system]) for vote in votes]
        yield Annotation(
            where=summary.where,
            context_id=document_id,
            context=article,
            inputs={"article": article},
            category=split,
            candidate_id=f"{document_id}/{system}",
            candidate=summary.text("text"),
            system=system,
            aspect="preference",
            score=sum(ratings),
            ratings=ratings,
            split=split,
        )


def count_votes(annotator: Record, systems: list[str], names: int | None) -> Counter[str]:
    """Return the votes of an annotator by system: 1 as one of the best, -1 as one of the worst."""
    votes: Counter[str] = Counter()
    for field, vote in VOTES.items():
        for system in annotator.texts(field)[:names]:
            if system not in systems:
                raise SourceError(
                    "cell.unknown-value",
                    f'the document has no summary of "{system}", only of {", ".join(systems)}',
                    f"{annotator.where}, {field}",
                )
            votes[system] += vote
    return votes


def report_several(files: Files, where: str, documents: Iterable[Record]) -> None:
    """Tell how many annotations name more, or less, than one best and one worst summary."""
    lengths = [
        tuple(len(annotator.texts(field)) for field in VOTES)
        for document in documents
        for annotator in document.records("annotators")
    ]
    several = sum(pair != (1, 1) for pair in lengths)
    if several:
        read = "all names count" if files.source.variant else "the first of each list counts"
        what = "do not name one best and one worst summary"
        files.report(where, f"{several} of {len(lengths)} annotations {what}; {read}")
