"""What operations do to a text: rows G40-G55 of the fact sheet, as far as they concern one text."""

import json
import re
from collections import Counter
from contextlib import nullcontext, suppress
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings, strategies as st
from support.refusals import refusal

from nnd.converters.make.forms.protected import free_spans
from nnd.converters.make.text_operations.operation import RefusalError, Statement
from nnd.converters.make.text_operations.own_operations import is_of_like_length
from nnd.converters.make.text_operations.spelling import FALSIFICATIONS, OPERATIONS, find_operation
from nnd.converters.make.text_operations.surface import NEIGHBOURS
from nnd.metric.cli.command import app

PLAIN = [name for name in OPERATIONS if name != "back_translation"]
LETTERS = "The quick brown fox jumps over the lazy dog. " * 600  # 21,000 letters


def changed(spelled: str, text: str, seed: int = 1) -> str:
    """The text after an operation, which takes it."""
    (new,) = find_operation(spelled).change(of(text), Random(seed))
    return new


def of(*texts: str) -> Statement:
    return Statement("test", "c1", texts)


def test_g40_the_same_seed_gives_the_same_text_and_another_seed_another() -> None:
    for spelled in ("typos", "whitespace", "function_words", "order", "numbers"):
        text = "The 12 guests came by boat in the evening. Did you see them? And 7 left."
        texts = {changed(spelled, text, seed) for seed in range(200)}
        assert len(texts) > 1
        assert changed(spelled, text, 5) == changed(spelled, text, 5)


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.5])
def test_g41_each_letter_is_replaced_at_the_rate(rate: float) -> None:
    new = changed(f"typos={rate}", LETTERS)
    letters = sum(char.isalpha() for char in LETTERS)
    replaced = sum(one != other for one, other in zip(LETTERS, new, strict=True))
    tolerance = 0.003 if rate < 0.1 else 0.01  # three standard errors at 21,000 letters

    assert letters == 21_000
    assert abs(replaced / letters - rate) < tolerance


def test_g42_a_rate_of_0_replaces_nothing_and_one_of_1_everything() -> None:
    new = changed("typos=1", LETTERS)

    assert all((one != other) == one.isalpha() for one, other in zip(LETTERS, new, strict=True))


def test_g43_a_letter_becomes_a_neighbour_on_the_keyboard_in_its_case() -> None:
    rows = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    place = {
        key: (column + 0.25 * row * (1 + (row == 2)), row)
        for row, keys in enumerate(rows)
        for column, key in enumerate(keys)
    }
    touching = {
        key: {
            other
            for other in place
            if other != key
            and abs(place[key][1] - place[other][1]) <= 1
            and abs(place[key][0] - place[other][0]) <= 1
        }
        for key in place
    }
    new = changed("typos=1", LETTERS)

    for key, neighbours in NEIGHBOURS.items():
        assert set(neighbours) <= touching[key], key
        assert len(set(neighbours)) == len(neighbours) >= 2
    for one, other in zip(LETTERS, new, strict=True):
        if one.isalpha():
            assert other.lower() in NEIGHBOURS[one.lower()]
            assert other.isupper() == one.isupper()
    assert Counter(key for old, key in zip(LETTERS, new, strict=True) if old == "o").keys() == set(
        NEIGHBOURS["o"]
    )


@pytest.mark.parametrize("spelled", ["typos=1", "case=upper", "function_words=1", "whitespace=1"])
def test_g44_speakers_addresses_and_numbers_stay(spelled: str) -> None:
    kept = ["Anna:", "Dr. de Wit:", "https://a.org/the/x?y=z", "www.of-the.org", "3rd", "1,250.50"]
    text = (
        "Anna: we saw https://a.org/the/x?y=z of the first\n"
        "Dr. de Wit: the 3rd is at www.of-the.org for you\n"
        "Anna: paid 1,250.50 to them"
    )
    piped = "| Elena: happy as can be | Bob Hope: to the moon"
    new, new_piped = changed(spelled, text), changed(spelled, piped)

    assert all(each in new for each in kept)
    assert [line.split(":")[0] for line in new.split("\n")] == ["Anna", "Dr. de Wit", "Anna"]
    assert "| Elena:" in new_piped
    assert "| Bob Hope:" in new_piped
    assert (new, new_piped) != (text, piped)


CAT = "The cat is not on the mat, and it never was; who has seen all of them?"


@pytest.mark.parametrize(
    ("spelled", "text", "expected"),
    [
        ("punctuation", "a b?!", "a b"),
        ("punctuation", "a b", "a b"),
        ("punctuation", "Wait... what?", "Wait... what"),
        ("punctuation", "何ですか？", "何ですか"),  # noqa: RUF001
        ("punctuation", "好。\n", "好\n"),
        ("punctuation", "1.5", "1.5"),
        ("punctuation", 'He said "no."', 'He said "no."'),
        ("function_words=1", CAT, "cat not mat, never was; seen all them?"),
        ("function_words=0", CAT, CAT),
        ("case", "Ann: The Straße of 3rd at www.A.org", "Ann: the straße of 3rd at www.A.org"),
        ("case=upper", "Straße", "STRASSE"),
        ("whitespace=1", "a\nb\n\nc  d", "a\nb\n\nc  d"),
        ("typos=0", LETTERS, LETTERS),
        # Prose is not data, and one component stays.
        *(
            ("order", text, text)
            for text in (
                *("Well, I think so, yes", "Paris, France", "Ann (30), Bob (25)"),
                *("red, green, and blue", "f(x)"),
                *("One sentence.", "", "no end", "a. a. a.", "\n\n", "x\n"),
            )
        ),
    ],
)
def test_g45_g49_what_becomes_of_a_text(spelled: str, text: str, expected: str) -> None:
    assert changed(spelled, text) == expected


@pytest.mark.parametrize(
    ("old", "form", "limit"),
    [
        ("7", r"\d+", 10),
        ("10", r"\d+", 100),
        ("54", r"\d+", 100),
        ("100", r"\d+", 1000),
        ("730", r"\d+", 1000),
        ("1,250", r"\d{1,3}|\d,\d{3}", 10_000),
        ("3.50", r"\d+\.\d\d", 10),
        ("0.5", r"\d+\.\d", 10),
        ("42.125", r"\d+\.\d{3}", 100),
    ],
)
def test_g46_a_number_becomes_another_of_its_size_and_form(old: str, form: str, limit: int) -> None:
    """GEM (2021), section 4.2: 54 becomes a number below 100, the next power of ten."""
    values = set()
    for seed in range(300):
        new = re.fullmatch(
            rf"We sold ({form}) of it\.", changed("numbers", f"We sold {old} of it.", seed)
        )
        assert new, changed("numbers", f"We sold {old} of it.", seed)
        values.add(float(new[1].replace(",", "")))

    assert float(old.replace(",", "")) not in values
    assert 0 <= min(values) < max(values) < limit
    assert max(values) > 0.8 * limit
    if limit == 10 and "." not in old:
        assert values == {*range(10)} - {7}


@pytest.mark.parametrize("old", ["three", "Three", "TEN"])
def test_g46_a_word_becomes_a_word(old: str) -> None:
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    for seed in range(50):
        new = changed("numbers", f"{old} of the men", seed).removesuffix(" of the men")
        assert new.lower() in set(words) - {old.lower()}
        assert (new.isupper(), new.istitle()) == (old.isupper(), old.istitle())


def test_g47_numbers_are_replaced_by_span() -> None:
    for seed in range(50):
        new = changed("numbers", "5 of 15 and 5", seed)
        one, two, three = map(int, re.findall(r"\d+", new))
        assert re.fullmatch(r"\d+ of \d+ and \d+", new)
        assert one == three != 5
        assert two != 15
        assert one != two


@pytest.mark.parametrize(
    "text",
    [
        "on 12/05/2020", "on 2020-05-12", "on May 12, yes", "on 12 May", "in 1995", "since 2019.",
        "from 10-20 of it", "from 5 to 7 of it", "at 10:30", "COVID-19", "A4 paper", "the 3rd",
        "007", "5km", "5-year plan", "twenty-five men", "2 million men", "no one came",
        "one another", "12345 men", "1.2.3", "#5", "-5 degrees",
    ],
)  # fmt: skip
def test_g47_dates_ranges_and_ids_stay(text: str) -> None:
    assert {changed("numbers", text, seed) for seed in range(20)} == {text}


def test_g47_what_is_also_mentioned_in_a_form_that_stays_stays_everywhere() -> None:
    for seed in range(20):
        new = changed("numbers", "It is 5 km, or 5km, or five km; not 8 km.", seed)
        assert re.fullmatch(r"It is 5 km, or 5km, or five km; not \d+ km\.", new)
        assert "8" not in new
        assert "not 5" not in new  # or two numbers would become one


def test_g47_words_and_digits_of_one_value_go_together() -> None:
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    for seed in range(20):
        one, two = changed("numbers", "5 men, five hats", seed).replace(",", "").split()[::2]
        assert words[int(one)] == two != "five"


def test_too_many_numbers_for_each_to_become_another_are_rejected() -> None:
    operation = find_operation("numbers")
    text = " ".join(f"{n} men," for n in range(11)) + " 100km, 7km, 8km, 9km"

    refused = 0
    for seed in range(40):
        try:
            (new,) = operation.change(of(text), Random(seed))
        except RefusalError:
            refused += 1
        else:
            found = re.findall(r"(\d+) men", new)
            assert len(set(found)) == len(found)
    assert refused


@pytest.mark.parametrize(
    ("text", "components"),
    [
        ("Ann: Hi.\nBob: Hello. You?\nAnn: Fine.", r"\n"),
        ("| Ann: Hi. | Bob: Hello. You? | Ann: Fine.", r" ?\| "),
        ("Lima | capital | Peru && Lima | river | Rímac", " && "),
        ("One is here. Two is there! Is three?", r"(?<=[.?!])\s"),
        ("一。二。三！", r"(?<=[。！])"),  # noqa: RUF001
    ],
)
def test_g49_components_change_their_order_and_nothing_else(text: str, components: str) -> None:
    parts = Counter(re.split(components, text))
    found = {changed("order", text, seed) for seed in range(60)}

    assert text not in found
    assert all(Counter(re.split(components, new)) == parts for new in found)
    orders = {2: 1, 3: 5, 4: 5}[parts.total()]  # all but the identity; an empty first part stays
    assert len(found) == orders


@pytest.mark.parametrize(
    ("text", "components"),
    [
        (
            "name[St. John's, new], food[French], customer rating[5 out of 5]",
            ["name[St. John's, new]", "food[French]", "customer rating[5 out of 5]"],
        ),
        (
            "inform(name='The Eagle, bar',food=French, near=St. Mary's (old))",
            ["name='The Eagle, bar'", "food=French", "near=St. Mary's (old)"],
        ),
        ("?request(area, food)", ["area", "food"]),
        ("inform(a=b, c=d) & request(c)", ["inform(a=b, c=d)", "request(c)"]),
        (
            "[{'act': 'INFORM'}, {'act': 'REQUEST'}]",
            ["{'act': 'INFORM'}", "{'act': 'REQUEST'}"],
        ),
        (
            "<t> A. B. </t> <table> <cell> 3 <col> Goals </col> </cell> <cell> 7 </cell> </table>",
            ["<cell> 3 <col> Goals </col> </cell>", "<cell> 7 </cell>"],
        ),
        ("ski, mountain, ice-cream", ["ski", "mountain", "ice-cream"]),
        ("['ski', \"ice cream\"]", ["'ski'", '"ice cream"']),
    ],
)
def test_parts_of_data_change_their_order_and_nothing_else(
    text: str, components: list[str]
) -> None:
    template = text
    for component in components:
        template = template.replace(component, "{}", 1)
    assert template.count("{}") == len(components)
    expected = {template.format(*order) for order in permutations(components)} - {text}
    assert {changed("order", text, seed) for seed in range(60)} == expected


@pytest.mark.parametrize(
    ("length", "accepted"), [(65, True), (135, True), (64, False), (136, False), (100, True)]
)
def test_g50_a_translation_of_another_length_is_rejected(
    length: int,
    accepted: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    path = tmp_path / "translate.py"
    path.write_text(f"def there_and_back(text):\n    return 'x' * {length}\n", encoding="utf-8")
    operation = find_operation(f"back_translation={path}:there_and_back")
    refused = pytest.raises(RefusalError, match=r"^no translation of like length$")

    with nullcontext() if accepted else refused:
        assert operation.change(of("a" * 100), Random(1)) == ["x" * length]
    assert is_of_like_length("a" * 100, "x" * length) == accepted


def own(tmp_path: Path, body: str) -> str:
    path = tmp_path / "mine.py"
    path.write_text(body, encoding="utf-8")
    return f"{path}:Shout_It"


def test_g51_a_function_of_ones_own_works(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("MARK = '!'\n", encoding="utf-8")
    body = "from beside import MARK\ndef Shout_It(text, random):\n    return text.upper() + MARK\n"
    operation = find_operation(own(tmp_path, body))

    assert operation.name == operation.set_name == "shout_it"
    assert operation.change(of("a b", "c"), Random(1)) == ["A B!", "C!"]
    assert operation.parameters["file"] == "mine.py"
    assert operation.parameters["function"] == "Shout_It"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("def other(text, random): ...", "name.unknown"),
        ("Shout_It = 3", "name.unknown"),
        ("def Shout_It(:", "make.function"),
        ("raise SystemExit(3)", "make.function"),
    ],
)
def test_g51_a_file_without_the_function_is_one_error(tmp_path: Path, body: str, code: str) -> None:
    with refusal(code):
        find_operation(own(tmp_path, body))


def test_g52_what_changes_labels_is_never_applied_to_one_side() -> None:
    numbers = find_operation("numbers")

    for target in ("context", "candidate"):
        with refusal("option.conflict"):
            numbers.applied_to(target)
    assert numbers.applied_to("both") == numbers
    assert find_operation("typos").applied_to("candidate").set_name == "typos-0.05-candidate"


TEXTS = [
    "Straße",
    "İstanbul",
    "👩‍👩‍👧 family.",
    "a\r\nb\r\nc",
    "",
    "x",
    "1",
    "?!",
    "\u2028a. b",
    "e\u0301. E\u0301.",
]


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("value", [None, "1"])
def test_g55_every_text_survives(name: str, value: str | None) -> None:
    spelled = name if value is None or name not in ("typos", "whitespace") else f"{name}={value}"
    for text in TEXTS:
        new = changed(spelled, text)
        assert isinstance(new.encode(), bytes)
        if name in ("order", "whitespace"):
            assert Counter(new.replace(" ", "")) == Counter(text.replace(" ", ""))


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=4))
def test_g55_any_text_survives(texts: list[str]) -> None:
    for name in PLAIN:
        with suppress(RefusalError):
            assert len(find_operation(name).change(of(*texts), Random(1))) == len(texts)
    for text in texts:
        spans = list(free_spans(text))
        assert all(start < end for start, end in spans)
        assert spans == sorted(spans)
        assert sorted(changed("order", text)) == sorted(text)


@pytest.mark.parametrize("name", PLAIN)
def test_g55_long_texts_take_no_longer_than_they_must(name: str) -> None:
    """Each would take minutes if a pattern were tried at every place to the end of the text."""
    for piece in (
        "x",
        " ",
        ".",
        "1",
        "a: ",
        "a, ",
        "a=b,",
        "a(",
        "[a,",
        "a(b) ",
        "<cell>",
        "</cell>",
    ):
        changed(name, piece * (60_000 // len(piece)))


@pytest.mark.parametrize(
    ("spelled", "code"),
    [
        ("typo", "option.unknown-value"),
        ("typos=2", "option.bad-value"),
        ("typos=-0.1", "option.bad-value"),
        ("typos=nan", "option.bad-value"),
        ("whitespace=much", "option.bad-value"),
        ("typos=", "option.bad-value"),
        ("numbers=3", "option.bad-value"),
        ("case=title", "option.unknown-value"),
        ("back_translation", "make.function"),
        ("back_translation=x", "make.function"),
        ("gone.py:f", "file.not-found"),
        ("", "option.unknown-value"),
    ],
)
def test_a_wrong_spelling_is_one_error(spelled: str, code: str) -> None:
    with refusal(code):
        find_operation(spelled)


def test_blanks_are_doubled_or_left_out_and_line_breaks_stay() -> None:
    words = " ".join(["word"] * 2001)
    new = changed("whitespace=0.2", words)
    doubled = new.count("  ")
    left_out = 2000 - (new.count(" ") - doubled)

    assert abs(doubled - 200) < 45  # three standard deviations of 2,000 draws at 0.1
    assert abs(left_out - 200) < 45


def test_every_operation_is_listed_with_what_it_makes_of_a_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app(["derive", "--list", "--json"], standalone_mode=False)
    shown = json.loads(capsys.readouterr().out)
    negatives, listed = (
        {
            each["spelled"].partition("=")[0]: each
            for each in shown["operations"]
            if (each["changes"] == "negatives") == makes_negatives
        }
        for makes_negatives in (True, False)
    )

    assert negatives.keys() == {*FALSIFICATIONS}
    assert negatives["swap_speakers"]["example"] == (
        "Bob is there with 12 guests, and Ann will come by boat."
    )
    assert negatives["antonym"]["example"] is None
    assert listed.keys() == {*OPERATIONS, "path.py:function"}
    for name in PLAIN:
        operation = find_operation(listed[name]["spelled"])
        examples = {changed(listed[name]["spelled"], shown["text"], seed) for seed in range(99)}
        assert listed[name]["example"] in examples - {shown["text"]}
        assert listed[name]["changes"] == operation.on
        assert listed[name]["description"]
