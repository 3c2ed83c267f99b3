"""Quiz Design: questions that teachers accepted, or refused with a reason (Laban et al. 2022).

Python, not a table: its refusals name ``questions[1]``, and a number for a text is one.
"""

from collections.abc import Iterator

from nnd.converters import Annotation, Files

FILE = "quiz_design_groups.jsonl"


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per question; a group of questions for one answer is a context."""
    for group in files.jsonl(FILE):
        context_id = group.identifier("group_id")
        inputs = {"paragraph": group.text("context"), "answer": group.text("answer_span")}
        for question in group.records("questions"):
            system = question.text("model_name")
            yield Annotation(
                where=question.where,
                context_id=context_id,
                context="{answer} \n {paragraph}".format_map(inputs),
                inputs=inputs,
                candidate_id=f"{context_id}/{system}",
                candidate=question.text("question"),
                system=system,
                aspect="question",
                label=question.optional_text("reason"),
            )
