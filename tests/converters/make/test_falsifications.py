"""What falsifications make of one right text: rows E24 and E25 of the fact sheet, and refusals."""

import json
import re
from pathlib import Path
from random import Random

import pytest
from support.refusals import refusal

from nnd.converters.make.text_operations.articles import with_article
from nnd.converters.make.text_operations.operation import RefusalError, Statement
from nnd.converters.make.text_operations.spelling import find_operation

DIALOGUE = "Amanda: I baked  cookies. Do you want some?\nJerry: Sure!\nTom Lee: I don't."


def falsified(spelled: str, text: str, context: str = DIALOGUE) -> set[str]:
    """All that the draws of 40 seeds make of a text; of a refusal its reason."""
    falsification = find_operation(spelled, keeps_label=False)
    statement = Statement("test", "c1/a", [text], "c1", context)
    found = set()
    for seed in range(40):
        try:
            found.update(falsification.change(statement, Random(seed)))
        except RefusalError as refusal:
            found.add(f"refused: {refusal}")
    return found


SWAPPED = {
    # E24, and the same with possessives, of which only the names move.
    "Amanda baked cookies and will bring Jerry some tomorrow.": (
        "Jerry baked cookies and will bring Amanda some tomorrow."
    ),
    "Amanda's aunt likes Jerry’s dog.": "Jerry's aunt likes Amanda’s dog.",  # noqa: RUF001
    "Tom Lee says that Jerry lost his hat.": "Jerry says that Tom Lee lost his hat.",
    # Names are whole words.
    "Amanda saw Jerryson and Jerry.": "Jerry saw Jerryson and Amanda.",
    "Mary-Amanda met Amanda before Jerry.": "Mary-Amanda met Jerry before Amanda.",
    # What is said of both at once does not change, what is said of one of them does.
    "Amanda met Jerry's dog.": "Jerry met Amanda's dog.",
    "Amanda and Jerry talk. Jerry leaves.": "Jerry and Amanda talk. Amanda leaves.",
}


def test_e24_two_of_three_speakers_are_drawn() -> None:
    assert falsified("swap_speakers", "Amanda asks Jerry to call Tom Lee.") == {
        "Jerry asks Amanda to call Tom Lee.",
        "Tom Lee asks Jerry to call Amanda.",
        "Amanda asks Tom Lee to call Jerry.",
    }


def test_a_name_that_ends_in_s_gives_its_possessive_away() -> None:
    dialogue = "James: Hi.\nAnn: Hi."
    swapped = falsified("swap_speakers", "James' dog bit Ann's.", dialogue)

    assert swapped == {"Ann's dog bit James's."}


def test_a_context_without_speakers_is_refused() -> None:
    found = falsified("swap_speakers", "Amanda met Jerry.", "Amanda baked cookies for Jerry.")

    assert found == {"refused: no speaker tags in the context"}


NEGATED = {
    "Ann is here.": "Ann is not here.",
    "Ann has seen him.": "Ann has not seen him.",
    "ann has been asked .": "ann has not been asked .",
    "There are 12 guests.": "There are not 12 guests.",
    "Ann can't swim.": "Ann can swim.",
    "Ann won’t swim.": "Ann will swim.",  # noqa: RUF001
    "Ann cannot swim.": "Ann can swim.",
    "Ann did not swim.": "Ann did swim.",
    "ann does n't swim .": "ann does swim .",
    "ann is n't here .": "ann is here .",
    # One auxiliary of a verb takes the "not", and a clause takes one "not".
    "Ann must have left.": "Ann must not have left.",
    "Ann would not have left.": "Ann would have left.",
    "No man was here, Ann is here.": "No man was here, Ann is not here.",
    "If he can come, Ann will swim.": "If he can come, Ann will not swim.",
    "Is she here? Bob is outside.": "Is she here? Bob is not outside.",
}


REFUSED = {
    ("swap_speakers", "fewer than two speakers named"): [
        "Amanda baked cookies.", "She baked cookies for him.",
    ],
    ("swap_speakers", "the swap keeps the meaning"): [
        "Amanda, Jerry and Tom Lee eat.", "Amanda and Jerry's boss left.",
        "Amanda will meet up with Jerry at 5.", "Amanda is talking to Jerry.",
    ],
    ("negation", "no auxiliary that takes or loses a negation"): [
        # What would read badly.
        "Ann swims.", "Is Ann here?", "Ann has a boat.", "Ann has to swim.", "Ann is also here.",
        "Ann is no swimmer.", "Ann is not only here.", "Ann did not see anybody.",
        "Ann has not swum yet.", "He left when she was here.", "Her will is.", "Only then will we.",
        "Will he come", "A can of fish", "Ann would rather swim.", "Who is Ann", "He has ten men.",
        "Ann was reportedly here.", "All a man can during a day.", "As he was leaving, Ann swam.",
        "Nothing is sacred.", "The boats will be nowhere near.",
        # What a negation would not contradict.
        "Ann may come.", "Ann may not come.", "Ann swims on may 2.",
        "A third of the men are old.", "One in five boys was ill.", "Some are here.",
        "Ann saw how many were ill.", "Ann swims since she was ill.",
    ],
    ("numbers", "no number that can change"): [  # as it may stay right
        "One man won.", "She is over 30 years old.", "in 1995", "at least 5 men", "12 pm",
        "4.30 PM", "up to # 3,500", "up to £3,500", "under the age of 13", "an 85 - 80 win",
        "from # 299 to # 400", "between £30 and £40", "2 or 3 of them",
    ],
    ("numbers", "no number"): ["Someone won."],
}  # fmt: skip
ONE_RESULT = [
    *(("swap_speakers", text, swapped) for text, swapped in SWAPPED.items()),
    *(("negation", text, negated) for text, negated in NEGATED.items()),
    *((name, text, f"refused: {why}") for (name, why), texts in REFUSED.items() for text in texts),
]


@pytest.mark.parametrize(("spelled", "text", "result"), ONE_RESULT)
def test_what_every_draw_gives(spelled: str, text: str, result: str) -> None:
    assert falsified(spelled, text) == {result}


def test_one_of_several_places_is_drawn() -> None:
    assert falsified("negation", "Ann is here. Bob was not outside.") == {
        "Ann is not here. Bob was not outside.",
        "Ann is here. Bob was outside.",
    }


def test_numbers_of_the_candidate_change_alone_and_never_to_one() -> None:
    found = falsified("numbers", "There were an 8 and 3 men.", "There were an 8 and 3 men.")
    numbers = [re.fullmatch(r"There were (an?) (\d+) and (\d+) men\.", text) for text in found]

    assert len(found) > 10
    for each in numbers:
        assert each is not None
        assert each[2] not in {"0", "1", "8"}
        assert each[3] not in {"0", "1", "3"}
        assert (each[1] == "an") == (each[2] == "8")


def antonyms(tmp_path: Path, *rows: str) -> str:
    path = tmp_path / "antonyms.csv"
    path.write_text("\n".join(["word,antonym", *rows]) + "\n", encoding="utf-8")
    return f"antonym={path}"


def test_a_word_becomes_its_antonym(tmp_path: Path) -> None:
    spelled = antonyms(tmp_path, "open,shut", "easy,hard", "go up,go down")

    assert falsified(spelled, "It is an easy way to OPEN.") == {
        "It is a hard way to OPEN.",
        "It is an easy way to SHUT.",
    }
    assert falsified(spelled, "Go up!") == {"Go down!"}
    assert falsified(spelled, "Reopened easily, open-ended.") == {"refused: no word of the table"}


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (["hot,cold", "cold,hot"], "row.contradiction"),
        (["hot,Hot"], "row.contradiction"),
        (["a,b", "b,c", "c,a"], "row.contradiction"),
        (["hot,cold", "Hot,cool"], "row.twice"),
        (["hot,"], "cell.empty"),
        ([], "file.empty"),
    ],
)
def test_a_table_that_leads_nowhere_is_one_error(
    rows: list[str], code: str, tmp_path: Path
) -> None:
    with refusal(code):
        find_operation(antonyms(tmp_path, *rows), keeps_label=False)


def test_a_table_with_other_columns_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("hot,cold\n", encoding="utf-8")

    with refusal("file.another-kind", "table.csv"):
        find_operation(f"antonym={tmp_path / 'table.csv'}", keeps_label=False)
    with refusal("file.not-found", "missing.csv"):
        find_operation("antonym=missing.csv", keeps_label=False)


CONTEXT = "Lima is in Peru. Quito is in Ecuador, an Andean country. Lima Sur is a part of Lima."


def spans(tmp_path: Path, *rows: tuple[str | None, str, str]) -> str:
    """A file of spans: candidate_id or None, the entity, its type."""
    texts = {None: CONTEXT, "c1/a": "Lima lies in Peru, a state."}
    lines = [
        {"context_id": "c1", "candidate_id": of, "start": at, "end": at + len(entity), "type": kind}
        for of, entity, kind in rows
        for at in [texts[of].find(entity)]
    ]
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return f"swap_entities={path}"


def test_e25_an_entity_becomes_another_of_its_type_that_shares_no_token(tmp_path: Path) -> None:
    of_context = [
        (None, "Lima", "city"), (None, "Quito", "city"), (None, "Lima Sur", "city"),
        (None, "Peru", "state"), (None, "Ecuador", "state"), (None, "Andean country", "kind"),
    ]  # fmt: skip
    of_text = [("c1/a", "Lima", "city"), ("c1/a", "Peru", "state"), ("c1/a", "state", "kind")]
    text = "Lima lies in Peru, a state."

    assert falsified(spans(tmp_path, *of_context, *of_text), text, CONTEXT) == {
        "Quito lies in Peru, a state.",
        "Lima lies in Ecuador, a state.",
        "Lima lies in Peru, an Andean country.",
    }


def test_a_text_without_spans_or_without_another_entity_is_refused(tmp_path: Path) -> None:
    text = "Lima lies in Peru, a state."
    lonely = spans(tmp_path, ("c1/a", "Lima", "city"), (None, "Lima Sur", "city"))
    other = "refused: no other entity of the type in the context"

    assert falsified(lonely, text, CONTEXT) == {other}
    assert falsified(spans(tmp_path, (None, "Lima", "city")), text, CONTEXT) == {
        "refused: no spans"
    }


def test_spans_outside_the_text_are_one_error(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    for span in (20, 30), (3, 3), (0.5, 3):
        row = {"context_id": "c1", "candidate_id": "c1/a", "start": span[0], "end": span[1]}
        path.write_text(json.dumps(row | {"type": "city"}), encoding="utf-8")
        with refusal("row.wrong-shape", "spans.jsonl:1"):
            falsified(f"swap_entities={path}", "Lima lies in Peru, a state.")


@pytest.mark.parametrize(
    ("spelled", "code"),
    [
        ("typos", "option.conflict"),
        ("swap_speaker", "option.unknown-value"),
        ("negation=2", "option.bad-value"),
        ("antonym", "option.needs-another"),
        ("swap_entities=", "option.needs-another"),
    ],
)
def test_what_makes_no_negatives_is_one_error(spelled: str, code: str) -> None:
    with refusal(code):
        find_operation(spelled, keeps_label=False)


def test_articles_go_by_the_sound() -> None:
    spelled = {word: with_article("Here is a ", word) for word in ("hour", "union", "ant", "boat")}

    assert spelled["hour"] == spelled["ant"] == "Here is an "
    assert spelled["union"] == spelled["boat"] == "Here is a "
    assert with_article("An ", "11") == "An "
    assert with_article("AN ", "110") == "A "
    assert with_article("a pan ", "11") == "a pan "
