"""What is reported of texts, and the steps that change them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, strategies as st
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.folder.validation import validate
from nnd.converters.pairs.hygiene.hygiene import normalise_texts, report_hygiene
from nnd.converters.pairs.pairing import make_pairs
from nnd.schemas import NORMAL_FORMS, NoError

Annotated = Callable[..., pl.DataFrame]


def looks(annotated: Annotated, *texts: str) -> dict[str, Any]:
    """The report on one system with these candidates."""
    frame = pl.concat(
        annotated("label", (str(number), "good"), candidate=text)
        for number, text in enumerate(texts)
    )
    pairs = make_pairs(frame, NoError("good"), {}).frame
    (found,) = report_hygiene(frame, pairs)["systems"].values()
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("look", "text"),
    [
        ("lower_cased", "who sings ?!"),
        ("lower_cased", "wer trägt das maß"),
        ("tokenised", "He sings ."),
        ("tokenised", "He , too, sings."),
        ("tokenised", "He sings -LRB- loudly -RRB-"),
        ("tokenised", "He sings ( he does )."),
        ("tokenised", "He does n't"),
        ("tokenised", "He sings `` Yes"),
        ("doubled_spaces", "He  sings"),
        ("control_characters", "He\u0007 sings"),
        ("control_characters", "He \u0096 sings"),
        ("wrongly_decoded", "caf\ufffd"),
        *(
            ("wrongly_decoded", text.encode().decode(encoding))
            for encoding in ("latin-1", "cp1252")
            for text in ("caf\u00e9", "It\u2019s", "5\u00a0%", "\u00abnon\u00bb", "Fun \U0001f600")
        ),
    ],
)
def test_a_text_with_a_look(annotated: Annotated, look: str, text: str) -> None:
    assert looks(annotated, text)[look] == 1.0


@pytest.mark.parametrize(
    ("look", "text"),
    [
        ("lower_cased", "Who sings?"),
        ("lower_cased", "1914"),
        ("lower_cased", "谁在唱歌"),  # no case, so not lower-cased
        ("tokenised", "He sings, too. (Loudly!)"),
        ("tokenised", "Thanks :)"),
        ("tokenised", "well ... yes"),
        ("tokenised", "costs .5 cents"),
        ("tokenised", "Qui chante\u00a0?"),
        ("doubled_spaces", "He sings"),
        ("control_characters", "one\tline\r\nand another"),
        ("wrongly_decoded", "caf\u00e9, It\u2019s 5\u00a0% \u00abNON\u00bb \U0001f600"),
        ("wrongly_decoded", "S\u00c3O PAULO, \u00c2ngelo, \u00e2ge, \u00f0"),
    ],
)
def test_a_text_without_it(annotated: Annotated, look: str, text: str) -> None:
    assert looks(annotated, text)[look] == 0.0


def test_shares_are_of_candidates(annotated: Annotated) -> None:
    found = looks(annotated, "he sings", "He sings", "he  sings .", "HE")

    # Candidates 1 and 3 are lower-cased, 3 alone is tokenised and has a doubled space.
    assert found == {
        "n": 4,
        "lower_cased": 0.5,
        "tokenised": 0.25,
        "doubled_spaces": 0.25,
        "control_characters": 0.0,
        "wrongly_decoded": 0.0,
    }


def test_contexts_are_looked_at_once(annotated: Annotated) -> None:
    frame = pl.concat(
        [
            annotated("label", ("a", "good"), ("b", "wrong"), context="Caf\u00c3\u00a9?"),
            annotated("label", ("c", "good"), context_id="c2"),
        ]
    )

    found = report_hygiene(frame, make_pairs(frame, NoError("good"), {}).frame)

    assert found["contexts"] == {"n": 2, "wrongly_decoded": 0.5}


def test_a_candidate_counts_once_and_for_each_of_its_systems(annotated: Annotated) -> None:
    frame = annotated(
        "label", ("a", "wrong"), ("a", "rude"), candidate="he", system="heron|wren|heron"
    )

    found = report_hygiene(frame, make_pairs(frame, NoError("good"), {}).frame)["systems"]

    assert {name: (row["n"], row["lower_cased"]) for name, row in found.items()} == {
        "heron": (1, 1.0),
        "wren": (1, 1.0),
    }


def lengths(annotated: Annotated) -> dict[str, Any]:
    """`good` of 4 characters against two categories of 2, one of 4, one of 8."""
    frame = pl.concat(
        annotated("label", *marks, candidate=text)
        for marks, text in [
            ([("a", "good")], "four"),
            ([("b", "wrong"), ("b", "rude")], "tw"),
            ([("c", "wrong")], "fóur"),
            ([("d", "wrong")], "eight888"),
        ]
    )
    found: dict[str, Any] = report_hygiene(frame, make_pairs(frame, NoError("good"), {}).frame)[
        "pairs"
    ]
    return found


def test_what_length_alone_reaches(annotated: Annotated) -> None:
    # Distinct pairs 4:2, 4:4, 4:8. Equal lengths are no win for either rule.
    assert lengths(annotated)["overall"] == {
        "n": 3,
        "mean_characters_high": 4.0,
        "mean_characters_low": pytest.approx(14 / 3),
        "shorter_wins": pytest.approx(1 / 3),
        "longer_wins": pytest.approx(1 / 3),
        "coin": 0.5,
    }


def test_and_by_error_category(annotated: Annotated) -> None:
    found = lengths(annotated)["by_error_category"]

    assert {name: (row["n"], row["longer_wins"]) for name, row in found.items()} == {
        "rude": (1, 1.0),
        "wrong": (3, pytest.approx(1 / 3)),
    }


def test_without_pairs_there_is_no_rate(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"))

    found = report_hygiene(frame, make_pairs(frame, NoError("good"), {}).frame)["pairs"]

    assert found["overall"]["n"] == 0
    assert found["overall"]["shorter_wins"] is None


def test_the_report_on_real_data(quiz_design: Conversion, challenge300: Conversion) -> None:
    # Counted with plain Python over the pairs.
    for conversion in (quiz_design, challenge300):
        sizes = [
            (len(high), len(low))
            for *_, high, low in conversion.pairs.select(
                "context_id", "high_id", "low_id", "candidate_high", "candidate_low"
            )
            .unique()
            .rows()
        ]
        found = conversion.manifest["hygiene"]["pairs"]["overall"]

        assert found["n"] == len(sizes)
        assert found["longer_wins"] == sum(high > low for high, low in sizes) / len(sizes)
        assert found["shorter_wins"] == sum(high < low for high, low in sizes) / len(sizes)


def test_macaw_writes_in_lower_case(challenge300: Conversion) -> None:
    found = challenge300.manifest["hygiene"]["systems"]

    assert found["Macaw-11B"]["lower_cased"] > 0.9
    assert found["GPT3-davinci"]["lower_cased"] < 0.1


def test_the_report_is_plain_json(quiz_design: Conversion) -> None:
    found = quiz_design.manifest["hygiene"]

    assert json.loads(json.dumps(found)) == found


# --- steps ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        ("nfc", "cafe\u0301 \u00bd", "café \u00bd"),
        ("whitespace", "  one \t two\u00a0three \r\n four\r", "one two three \n four"),
        ("detokenise", "He sings , too .", "He sings, too."),
        ("detokenise", "why ? -lrb- nobody knows ! -rrb- .", "why? (nobody knows!)."),
        ("detokenise", "thymine ( t )?", "thymine (t)?"),
        ("detokenise", "-LSB- sic -RSB- -LCB- a -RCB-", "[sic] {a}"),
        ("detokenise", "it 's not , they do n't , I \u2019ll", "it's not, they don't, I\u2019ll"),
        ("detokenise", "he said `` yes '' .", 'he said "yes".'),
        # Nothing to undo: these stay as they are.
        ("detokenise", "Thanks :) well ... :( and (yes), it's 'so'.", None),
        ("detokenise", 'He said "yes" at 5 : 3', 'He said "yes" at 5: 3'),
        ("detokenise", "the dogs ' bone costs $ 5", None),
    ],
)
def test_a_step(step: str, before: str, after: str | None) -> None:
    assert NORMAL_FORMS[step](before) == (before if after is None else after)


@given(
    st.sampled_from(sorted(NORMAL_FORMS)),
    st.lists(st.sampled_from(["a", " ", "  ", ".", ",", "(", ")", "'s", "n't", "``", "''", "\n"]))
    | st.lists(st.characters()),
)
def test_a_step_done_twice_is_done_once(step: str, parts: list[str]) -> None:
    once = NORMAL_FORMS[step]("".join(parts))

    assert NORMAL_FORMS[step](once) == once


def test_detokenised_text_is_not_reported_as_tokenised(annotated: Annotated) -> None:
    text = "he said : -lrb- do n't -rrb- , `` ok '' ."

    assert looks(annotated, text)["tokenised"] == 1.0
    assert looks(annotated, NORMAL_FORMS["detokenise"](text))["tokenised"] == 0.0


def test_candidates_contexts_and_inputs_are_changed_and_ids_are_not(annotated: Annotated) -> None:
    inputs = [{"key": "a  key", "value": "Who  sings"}]
    frame = annotated(
        "label", ("a  b", "good"), candidate="He  sings", context="Who  sings", inputs=inputs
    )

    row = normalise_texts(frame, ["whitespace"]).row(0, named=True)

    assert (row["candidate"], row["context"], row["candidate_id"]) == (
        "He sings",
        "Who sings",
        "a  b",
    )
    assert row["inputs"] == [{"key": "a  key", "value": "Who sings"}]


def test_steps_are_done_in_the_order_given(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), candidate="he\u00a0.")

    # Only a plain space stands before a mark by tokenising.
    assert normalise_texts(frame, ["detokenise", "whitespace"])["candidate"].item() == "he ."
    assert normalise_texts(frame, ["whitespace", "detokenise"])["candidate"].item() == "he."


def test_without_steps_nothing_changes(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), candidate=" e\u0301  .")

    assert normalise_texts(frame, []).equals(frame)


def test_an_unknown_step_is_an_error_before_anything_is_read(
    make_source: Callable[..., Path],
) -> None:
    folder = make_source()
    (folder / "toy.jsonl").unlink()

    with refusal("option.unknown-value", "--normalise"):
        convert(folder, normalise=["nfc", "nfd"])


def test_the_manifest_says_what_was_done(
    make_source: Callable[..., Path], toy: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    rows = [
        toy("a", "heron", "good", candidate="He sings ."),
        toy("b", "wren", "wrong", candidate="She sings ."),
        toy("c", "plover", "wrong", candidate="He sings."),
    ]
    # What the source expects holds for texts as they are.
    expected = {"annotations": 3, "contexts": 1, "systems": 3, "pairs": 2}
    expected |= {"by_error_category": {"wrong": 2}}
    folder = make_source(rows, declared=True, expected=expected)

    plain = convert(folder)
    changed = convert(folder, normalise=["detokenise"], out=tmp_path / "out")

    assert plain.manifest["normalised"] == []
    assert changed.manifest["normalised"] == ["detokenise"]
    assert changed.manifest["files"][0]["verified"]
    # c now says the same as a, so that one pair is gone; b's pair has another id.
    assert (plain.pairs.height, changed.pairs.height) == (2, 1)
    assert changed.pairs["candidate_low"].to_list() == ["She sings."]
    assert not set(changed.pairs["pair_id"]) & set(plain.pairs["pair_id"])
    assert changed.manifest["hygiene"]["systems"]["heron"]["tokenised"] == 0.0
    assert list(validate(tmp_path / "out")) == []
