"""sample: sixteen invented contexts in two tasks; one line of the file holds one context.

Not a `table`: it shows how a converter is written, and its two tasks have contexts of other parts.
"""

from collections.abc import Iterator

from nnd.converters import Annotation, Files, SourceError

FILE = "sample.jsonl"
# What was judged, the keys that make up the context, and how they are read as one text, by task.
ASPECTS = {"question generation": "question", "question answering": "answer"}
INPUTS = {"question generation": ("paragraph", "answer"), "question answering": ("question",)}
TEMPLATES = {"question generation": "{answer} \n {paragraph}", "question answering": "{question}"}


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per output; systems that wrote the same text share one."""
    for row in files.jsonl(FILE):
        task = row.text("task")
        if task not in ASPECTS:
            raise SourceError(
                "cell.unknown-value", f'task "{task}" is not one of {", ".join(ASPECTS)}', row.where
            )
        inputs = {key: row.text(key) for key in INPUTS[task]}
        for output in row.records("outputs"):
            system = "|".join(sorted(output.texts("systems")))
            yield Annotation(
                context_id=row.text("id"),
                context=TEMPLATES[task].format(**inputs),
                inputs=inputs,
                category=task,
                candidate_id=f"{row.text('id')}/{system}",
                candidate=output.text("text"),
                system=system,
                aspect=ASPECTS[task],
                label=output.optional_text("label"),
                where=output.where,
            )
