"""What is measured of texts."""

import pytest

from nnd.metric.numbers.slices.text_measures import (
    DISTANCES,
    LENGTHS,
    SHAPES,
    novelty,
    sentences,
    shapes,
    turns,
)

TRUTHS = {
    "number": {
        "In 2019 it rained.": True,
        "It cost 3.50 euros.": True,
        "Twelve of them left.": True,
        "Someone left a bone.": False,
        "One of them left.": False,  # as often a pronoun
        "A ninefold rise.": False,
        "": False,
    },
    "negation": {
        "He did not come.": True,
        "He didn’t come.": True,  # noqa: RUF001 - as people type it
        "It CAN'T be.": True,
        "Nobody knows.": True,
        "A notable knot.": False,
        "Nothingness, a noun.": False,
        "": False,
    },
    "question word": {
        "Who wrote it?": True,
        "He knows why.": True,
        "Is it late?": False,
        "A whole whiff.": False,
        "": False,
    },
    "dialogue": {
        "Ann: hi\nBob: hello": True,
        "#Person1#: hi\r\n#Person2#: hello": True,
        "Ann: hi": False,
        "See http://a.org\nand http://b.org": False,
        "At 10:30 he left.\nAt 11:30 he came.": False,
        "": False,
    },
}


def test_g22_g30_shapes_have_their_truth_tables() -> None:
    found = {
        shape: {text: SHAPES[shape](text) for text in table} for shape, table in TRUTHS.items()
    }
    assert found == TRUTHS
    assert set(TRUTHS) == set(SHAPES)
    assert shapes("Why not 3?") == ["number", "negation", "question word"]


def test_lengths_are_counted_by_hand() -> None:
    text = 'Dr. No paid $3.50, "really"!'
    assert LENGTHS["characters"](text) == 28
    assert LENGTHS["words"](text) == 6  # Dr No paid 3 50 really
    # Dr . No paid $ 3.50 , " really " !
    assert LENGTHS["tokens"](text) == 11
    assert [measure("") for measure in LENGTHS.values()] == [0, 0, 0]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("...", 1),
        ("no end", 1),
        ("It is 3.50 now. Really?! Yes", 3),
        ('"Stop." He left.', 2),
        ("雨。晴れ。", 2),
    ],
)
def test_sentences_are_counted_by_their_ends(text: str, count: int) -> None:
    assert sentences(text) == count


def test_turns_are_lines_with_a_speaker() -> None:
    assert turns("Ann: hi\n\nBob Lee: hello\nand more\nAnn: bye") == 3
    assert turns("no one speaks") == 0


def test_g23_novelty_is_the_share_of_new_word_types() -> None:
    assert novelty("The cat sat.", "the CAT sat sat") == 0
    assert novelty("The cat sat.", "dogs ran") == 1
    assert novelty("The cat sat.", "the cat ran away") == 0.5  # 2 of 4 types
    assert novelty("The cat sat.", "...") is None


def test_g25_distances_are_0_for_equal_texts_and_grow() -> None:
    base = "the cat sat on the mat"
    steps = [base, "the cat sat on the rug", "the dog sat on a rug", "birds fly high above trees"]
    for name in ("edits", "bigrams"):
        found = [DISTANCES[name](base, step) or 0.0 for step in steps]
        assert found == sorted(found)
        assert len({*found}) == 4
        assert (found[0], found[-1]) == (0, 1)
    # 6 words, 5 in common: 1 - 2 * 5 / 12; bigrams: 4 in common of 6
    assert DISTANCES["edits"](base, steps[1]) == pytest.approx(1 / 6)
    assert DISTANCES["bigrams"](base, steps[1]) == pytest.approx(1 - 4 / 6)
    assert DISTANCES["lengths"]("abcd", "wxyz") == 0  # of one length
    assert DISTANCES["lengths"]("abcd", "a") == 0.75
    assert DISTANCES["lengths"]("", "") == 0
    assert DISTANCES["bigrams"]("one", "two") is None
