"""SummEval: news summaries that three experts rated on four aspects (Fabbri et al. 2021).

Not a `table`: the annotations are published without the articles. They are those of the texts that
LLM_summeval publishes with the annotations of one system, M8, which wrote of all articles; a file
that pair_data.py of SummEval made, of the annotations and the stories, holds them too.
"""

from collections.abc import Iterator

from nnd.converters import Annotation, Files, Record, Reference, SourceError

PAIRED = "model_annotations.aligned.paired.jsonl"
ALIGNED = "model_annotations.aligned.jsonl"
WITH_ARTICLES = "M8_outputs_annotations.jsonl"
ASPECTS = ("coherence", "consistency", "fluency", "relevance")
LOWEST, HIGHEST = 1, 5


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per summary and aspect: the experts' ratings, in the file's order."""
    articles = _articles(files)
    for row in _rows(files):
        document, system = row.identifier("id"), row.text("model_id")
        article = row.text("text") if "text" in row.fields else articles.get(document)
        if article is None:
            raise SourceError(
                "source.no-articles", f"{WITH_ARTICLES} has no article {document}", row.where
            )
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
    return files.jsonl(PAIRED if files.has(PAIRED) else ALIGNED)


def _articles(files: Files) -> dict[str, str]:
    """Return document → article, for annotations without them."""
    first = next(_rows(files), None)
    if first is None or "text" in first.fields:
        return {}
    return {row.identifier("id"): row.text("text") for row in files.jsonl(WITH_ARTICLES)}
