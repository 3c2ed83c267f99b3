"""Which form a text has, what of it may change, and what operations make of it."""

import ast
import csv
import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from support.forms.second_reader import differs_elsewhere

from nnd.converters.make.forms.parsing import form_of
from nnd.converters.make.text_operations.operation import RefusalError, Statement, each
from nnd.converters.make.text_operations.spelling import find_operation

OBJECT = (
    '{"name": "The caf\\u00e9.", "stars": 4.5, "open": true, '
    '"rooms": [{"bed": "big"}, {"bed": "no"}]}'
)
LITERAL = """{'name': "HC '05", 'score': 12, 'extra': None, 'kinds': ['a', 'b']}"""
CSV = '# unit: people\nname,n\n"Ann, the old",3\nBob,12\n'
BARS = "| name | n |\n|:-----|--:|\n| Ann \\| Co | 3 |\n| Bob | 12 |"
KEYS = "Lima\n---\n- country: Peru\n- mouth of: the Rímac"
CHAT = "Ann: Hi. How are\nyou?\nBob: Fine.\nAnn: Good."
FENCED = f"Based on all of these data:\n```json\n{OBJECT}\n```\n\nWrite a text."
LABELLED = f"The data: {OBJECT}\nWrite a text. Write it well."


@pytest.mark.parametrize(
    ("text", "name", "leaves"),
    [
        (OBJECT, "json", ["The café.", "4.5", "big", "no"]),
        (LITERAL, "json", ["HC '05", "12", "a", "b"]),
        ('{"a": "x"}\n{"a": "y"}\n', "json", ["x", "y"]),
        ("[1, [2], -3, 1e5, 007]", "prose", ["[1, [2], -3, 1e5, 007]"]),
        ("[1, [2], -3, 1e5]", "json", ["1", "2"]),
        (CSV, "table", ["people", "Ann, the old", "3", "Bob", "12"]),
        ("a\tb\n1\tx y\n2\tz", "table", ["1", "x y", "2", "z"]),
        (BARS, "table", ["Ann | Co", "3", "Bob", "12"]),
        (KEYS, "key-values", ["Lima", "Peru", "the Rímac"]),
        ("name: Lima\nriver: Rímac", "key-values", ["Lima", "Rímac"]),
        ("price_range = cheap\nfood = French", "key-values", ["cheap", "French"]),
        (CHAT, "dialogue", [CHAT]),
        ("| Ann: Hi. | Bob: Yo.", "dialogue", ["| Ann: Hi. | Bob: Yo."]),
        (
            FENCED,
            "embedded",
            ["Based on all of these data:", "The café.", "4.5", "big", "no", "Write a text."],
        ),
        (
            LABELLED,
            "embedded",
            ["The data:", "The café.", "4.5", "big", "no", "Write a text. Write it well."],
        ),
        (f"See:\n\n{BARS}\n\nWell.", "embedded", ["See:", "Ann | Co", "3", "Bob", "12", "Well."]),
        ("So:\n~~~\nA tale. It ends.\n~~~", "embedded", ["So:", "A tale. It ends."]),
        ("So:\n```python\nprint(1)\n```\nRun it.", "embedded", ["So:", "Run it."]),
        ("So:\n```\nnever closed", "embedded", ["So:", "never closed"]),
        ("So:\n```html\n<p>It is.</p>``` Note it. Well.", "embedded", ["So:"]),
        ("So:\n```py\nprint(1)```\nRun it.", "embedded", ["So:", "Run it."]),
        ("Call ```f()``` or\ng()```", "prose", ["Call ```f()``` or\ng()```"]),
        ("So:\n```\n{'cut': 'of\n```\nRun it.", "embedded", ["So:", "Run it."]),
        # Prose.
        *(
            (text, "prose", [text])
            for text in (
                "",
                "[Client] said so.",
                "{'a', 'b'}",
                "['a' 'b', 'c']",
                "{",
                "[" * 5000,
                "One, two,\nthree, four,\nfive, six,",
                "Roses are red, so\nViolets are blue, and\nSugar is sweet, as",
                "Note: it rains.\nThe sun is out.\nWe go home.\nWho knows?",
                "Subject: Hello\n\nDear Ann,\n\nI am well.\n\nPhone: none",
                "[[Lima]] is by the sea.",
            )
        ),
    ],
)
def test_the_form_of_a_text(text: str, name: str, leaves: list[str]) -> None:
    form = form_of(text)

    assert (form.name, [leaf.text for leaf in form.leaves]) == (name, leaves)
    assert form.written([leaf.text for leaf in form.leaves]) == text


def changed(spelled: str, text: str, seed: int = 1) -> str:
    (new,) = find_operation(spelled).apply(Statement("test", "1", [text]), seed=seed, variant=1)
    return new


@pytest.mark.parametrize(
    ("spelled", "text", "expected"),
    [
        ("punctuation", OBJECT, OBJECT.replace("The caf\\u00e9.", "The caf\\u00e9")),
        ("case=upper", OBJECT, OBJECT.replace("The caf\\u00e9", "THE CAF\\u00c9")
            .replace("big", "BIG").replace('"no"', '"NO"')),
        ("case=upper", LITERAL, LITERAL.replace("'a', 'b'", "'A', 'B'")),
        ("case=upper", CSV, '# unit: PEOPLE\nname,n\n"ANN, THE OLD",3\nBOB,12\n'),
        ("case=upper", BARS, BARS.replace("Ann \\| Co", "ANN \\| CO").replace("Bob", "BOB")),
        ("case=upper", KEYS, "LIMA\n---\n- country: PERU\n- mouth of: THE RÍMAC"),
        ("function_words=1", KEYS, KEYS.replace("the ", "")),
        ("case", f"A\n{FENCED}", f"a\n{FENCED}".replace("Base", "base").replace("The", "the")
            .replace("Write", "write")),
        ("punctuation", CHAT, CHAT[:-1]),
        ("case=upper", "```sh\nls\n```\nrun", "```sh\nls\n```\nRUN"),
    ],
)  # fmt: skip
def test_what_becomes_of_data(spelled: str, text: str, expected: str) -> None:
    assert changed(spelled, text) == expected


def test_order_moves_members_records_rows_and_turns_whole() -> None:
    objects = {changed("order", OBJECT, seed) for seed in range(80)}
    rows = {changed("order", CSV, seed) for seed in range(9)}

    assert len(objects) == 23  # orders of four members; that of two records is the other one
    for text in objects:
        assert json.loads(text) == json.loads(OBJECT) | {"rooms": [{"bed": "no"}, {"bed": "big"}]}
    assert rows == {'# unit: people\nname,n\nBob,12\n"Ann, the old",3\n'}
    assert ast.literal_eval(changed("order", LITERAL)) == ast.literal_eval(LITERAL)
    assert changed("order", KEYS) == "Lima\n---\n- mouth of: the Rímac\n- country: Peru"
    assert {changed("order", "Ann: Hi.\nYou?\nBob: Yo.", seed) for seed in range(9)} == {
        "Bob: Yo.\nAnn: Hi.\nYou?"
    }
    assert changed("order", "So:\n```\nA tale. It ends.\n```") == "So:\n```\nIt ends. A tale.\n```"
    before, fence, rest = changed("order", FENCED).partition("```json\n")
    assert (before, fence) == ("Based on all of these data:\n", "```json\n")
    assert json.loads(rest.split("\n```")[0]).keys() == json.loads(OBJECT).keys()


@pytest.mark.parametrize(
    "text",
    [
        '{"at": [3, 1, 2]}',  # places may mean something
        '[["a", 1], ["b", 2]]',
        # The second record continues the first.
        '{"specs": [{"name": "2G", "value": "GSM"}, {"name": " ", "value": "CDMA"}]}',
    ],
)
def test_order_leaves_arrays_whose_places_mean_something(text: str) -> None:
    for seed in range(20):
        assert json.loads(changed("order", text, seed)) == json.loads(text)


def test_numbers_of_data_and_candidates_change_together_and_keys_stay() -> None:
    data = '{"goals": 12, "3h": {"rain": 0.74}, "id": 1187122, "at": "18:00", "cards": 3, "t": -5}'
    for seed in range(40):
        statement = Statement("test", "1", [data, "There were 12 goals and 0.74 mm; 3 cards."])
        new, said = find_operation("numbers").apply(statement, seed=seed, variant=1)
        value = json.loads(new)
        goals, rain = value["goals"], value["3h"]["rain"]

        assert (value["id"], value["at"], value["cards"], value["t"]) == (1187122, "18:00", 3, -5)
        assert said == f"There were {goals} goals and {rain:.2f} mm; 3 cards."
        assert 0 <= goals < 100
        assert goals != 12
        assert 0 <= rain < 10


def test_a_function_that_breaks_the_form_is_refused() -> None:
    def two_lines(text: str, _random: Random) -> str:
        return f"{text}\n{text}"

    assert json.loads(each(two_lines)(Statement("t", "1", ['{"a": "x"}']), Random(1))[0]) == {
        "a": "x\nx"
    }
    for text, kept in ((KEYS, "keys"), (CSV, "table"), (CHAT, "speakers"), (BARS, "table")):
        with pytest.raises(RefusalError, match=rf"^would no longer be .*{kept}"):
            each(two_lines)(Statement("t", "1", [text]), Random(1))


def test_data_of_an_unknown_form_have_no_order() -> None:
    with pytest.raises(RefusalError, match=r"^data of an unknown form$"):
        changed("order", "So:\n```python\nprint(1)\nprint(2)\n```\nRun it. Now.")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)  # fmt: skip
WORDS = st.text("abc .,;|\"'\\-:\n0é", min_size=1, max_size=9)


@settings(max_examples=60)
@given(
    value=st.dictionaries(WORDS, JSON, min_size=1, max_size=4) | st.lists(JSON, min_size=1),
    is_python=st.booleans(),
)
def test_any_json_stays_json(value: Any, is_python: bool) -> None:  # noqa: FBT001
    text = repr(value) if is_python else json.dumps(value, indent=1)
    load = ast.literal_eval if is_python else json.loads

    for name in ("typos", "case", "whitespace", "order", "punctuation", "numbers"):
        try:
            new = load(changed(name, text))
        except RefusalError:
            continue
        assert differs_elsewhere(name, load(text), new) is None


@settings(max_examples=60)
@given(rows=st.lists(st.lists(WORDS, min_size=2, max_size=2), min_size=2, max_size=4))
def test_any_table_stays_a_table(rows: list[list[str]]) -> None:
    rows = [[" ".join(cell.split()) for cell in row] for row in [["key", "value"], *rows]]
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    text = "\n".join(lines)

    for name in ("typos", "case", "whitespace", "order", "punctuation"):
        try:
            new = changed(name, text)
        except RefusalError:
            continue
        read = [*csv.reader(new.split("\n"))]
        assert read[0] == rows[0]
        assert differs_elsewhere(name, rows[1:], read[1:]) is None


def test_long_texts_take_no_longer_than_they_must() -> None:
    for piece in (
        *("```\n", "```a\n~~~b\n", '["\n', '{"a":\n', "| a |\n", "a: b\n", "a,b\n", "a: {'", '"'),
        *("- a: ", "a = ", "# a\n", "[[", "| A: ", "A:\n"),
    ):
        text = piece * (60_000 // len(piece))
        form = form_of(text)
        assert form.written([leaf.text for leaf in form.leaves]) == text
