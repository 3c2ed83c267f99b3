"""SummEval: news summaries that three experts rated on four aspects (Fabbri et al. 2021).

Not a `table`: who has the published file alone is told how to add the articles.
"""

from collections.abc import Iterator

from nnd.converters import Annotation, Files, Record, Reference, SourceError

PAIRED = "model_annotations.aligned.paired.jsonl"
ASPECTS = ("coherence", "consistency", "fluency", "relevance")
LOWEST, HIGHEST = 1, 5

# The annotations are published without the articles; a script of theirs puts the two together.
HOW_TO_PAIR = (
    f"make {PAIRED} from the published model_annotations.aligned.jsonl "
    "(https://storage.googleapis.com/sfr-summarization-repo-research/model_annotations.aligned.jsonl)"
    " and the CNN/DM stories (https://cs.nyu.edu/~kcho/DMQA/) with data_processing/pair_data.py of "
    "https://github.com/Yale-LILY/SummEval, then name it with --from"
)


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per summary and aspect: the experts' ratings, in the file's order."""
    for row in _rows(files):
        document, system = row.identifier("id"), row.text("model_id")
        article = _article(row)
        experts = list(row.records("expert_annotations"))
        for aspect in ASPECTS:
            yield Annotation(
                where=row.where,
                context_id=document,
                context=article,
                inputs={"article": article},
                candidate_id=f"{document}/{system}",
                candidate=row.text("decoded"),
                system=system,
                aspect=aspect,
                ratings=[expert.rating(aspect, LOWEST, HIGHEST) for expert in experts],
            )


def references(files: Files) -> Iterator[Reference]:
    """Yield the references of every article: the published highlights and ten by crowd workers."""
    for row in _rows(files):
        for text in row.texts("references"):
            yield Reference(where=row.where, context_id=row.identifier("id"), reference=text)


def _rows(files: Files) -> Iterator[Record]:
    try:
        return files.jsonl(PAIRED)
    except SourceError as error:
        remedy = f"{error.remedy}; if you have none, {HOW_TO_PAIR}"
        raise SourceError("source.no-articles", error.what, error.where, remedy) from error


def _article(row: Record) -> str:
    if "text" not in row.fields:
        raise SourceError(
            "source.no-articles", 'there is no "text", the article', row.where, HOW_TO_PAIR
        )
    return row.text("text")
