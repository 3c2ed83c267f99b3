"""DialSummEval: dialogue summaries that three people rated on four aspects (Gao and Wan 2022).

Not a `table`, which skips a rating that an annotator's object lacks: here it is a mistake.
"""

from collections.abc import Iterator

from nnd.converters import Annotation, Files

FILE = "human_judgment.jsonl"
ASPECTS = ("coherence", "consistency", "fluency", "relevance")
LOWEST, HIGHEST = 1, 5


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per summary and aspect: the three ratings, in the file's order."""
    for row in files.jsonl(FILE):
        dialogue_id, system = row.identifier("id"), row.text("model_id")
        dialogue = row.text("dialogue")
        annotators = list(row.records("annotations"))
        for aspect in ASPECTS:
            yield Annotation(
                where=row.where,
                context_id=dialogue_id,
                context=dialogue,
                inputs={"dialogue": dialogue},
                candidate_id=f"{dialogue_id}/{system}",
                candidate=row.text("summary"),
                system=system,
                aspect=aspect,
                ratings=[annotator.rating(aspect, LOWEST, HIGHEST) for annotator in annotators],
            )
