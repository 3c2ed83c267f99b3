"""Challenge 300: answers to hard questions, credited by hand (Tafjord and Clark 2021).

Not a `table`: answers and credits are told apart by their place, since old files name both alike.
"""

import re
from collections.abc import Iterator

from nnd.converters import Annotation, Files, SourceError
from nnd.schemas import Cells, parse_number

FILE = "challenge300-outputs.tsv"
QUESTION_COLUMNS = ["id", "question", "category"]
DIVIDER = "Credits->"  # an empty column: answers stand before it, credits behind it
SENTENCE = re.compile(r"(?<=[.?!])\s+")  # what is between two sentences
OLD_NAMES = {"Jurassic-jumbo": "Jurassic-1-jumbo"}

# The 22 categories of the file, folded into the five of the NND paper.
CATEGORIES = {
    fine: coarse
    for coarse, names in {
        "Common Sense": "commonsense, explanation, general knowledge, human behavior, "
        "hypothetical, story understanding, Winograd, history",
        "Comparison": "comparison, estimation, temporal",
        "Creativity": "example generation, false presupposition, generation, riddle",
        "Entity": "entity substitution, entity tracking",
        "Science": "math, meta-reasoning, science, spatial, steps",
    }.items()
    for fine in names.split(", ")
}


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield one annotation per answer; its score is the credit, or None where none was given."""
    quoted = files.first_line(FILE).startswith('"')  # the first release is not quoted
    rows = files.cells(FILE, delimiter="\t", quoted=quoted)
    header = next(rows, Cells(f"{FILE}:1", []))
    answered, credited = read_header(header)
    for where, (probe, question, fine, *rest) in rows:
        if fine not in CATEGORIES:
            known = ", ".join(CATEGORIES)
            raise SourceError(
                "cell.unknown-value",
                f'category "{fine}" is not known, only {known}',
                where,
                "add it to convert.py",
            )
        scene = " ".join(SENTENCE.split(question.strip())[:-1])  # what some questions share
        credit_of = dict(zip(credited, rest[len(answered) + 1 :], strict=True))
        for system, answer in zip(answered, rest, strict=False):
            credit = credit_of.get(system, "")
            yield Annotation(
                where=f"{where}, {system}",
                context_id=probe,
                context=question,
                inputs={"question": question},
                metadata={"scene": scene or question.strip()},
                category=CATEGORIES[fine],
                candidate_id=f"{probe}/{system}",
                candidate=answer,
                system=system,
                aspect="correctness",
                score=parse_number(credit, f"{where}, credit-{system}") if credit else None,
            )


def read_header(header: Cells) -> tuple[list[str], list[str]]:
    """Return the systems of the answer columns and of the credit columns.

    The columns are told apart by place: older versions give both the same names.
    """
    columns = header.values
    if columns[:3] != QUESTION_COLUMNS or DIVIDER not in columns:
        raise SourceError(
            "file.another-kind",
            f"the columns are not {', '.join(QUESTION_COLUMNS)}, the answers, {DIVIDER}, "
            "the credits",
            header.where,
        )
    middle = columns.index(DIVIDER)
    plain = [name.removeprefix("credit-") for name in columns]
    names = [OLD_NAMES.get(name, name) for name in plain]
    answered, credited = names[3:middle], names[middle + 1 :]
    wrong = [name for name in credited if name not in answered or credited.count(name) > 1]
    if wrong:
        raise SourceError(
            "header.wrong-names",
            f"the credits of {', '.join(wrong)} belong to no answer, or occur twice",
            header.where,
            "give every credit column the name of one answer column",
        )
    return answered, credited
