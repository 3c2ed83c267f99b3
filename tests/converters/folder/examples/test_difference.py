"""The words by which two texts differ."""

import pytest
from hypothesis import given, settings, strategies as st

from nnd.converters.folder.examples.difference import mark_differences


def marked(one: str, other: str) -> tuple[str, ...]:
    return tuple(
        "".join(f"[{piece.text}]" if piece.differs else piece.text for piece in pieces)
        for pieces in mark_differences(one, other)
    )


@pytest.mark.parametrize(
    ("high", "low"),
    [
        ("The [cat] sat.", "The [dog] sat."),
        ("Who [founded the] city?", "Who [found] city?"),
        ("It is so.", "It is [not] so."),
        ("It isn't[,] he said.", "It isn't he said."),
        ("渡轮今天又[晚]点", "渡轮今天又[早]点"),
        ("[Straße]", "[Strasse]"),
        ("[all of it]", ""),
        ("one  two", "one\ttwo"),
    ],
)
def test_words_that_the_other_text_does_not_have(high: str, low: str) -> None:
    texts = [text.replace("[", "").replace("]", "") for text in (high, low)]

    assert marked(*texts) == (high, low)
    assert marked(*reversed(texts)) == (low, high)


def test_texts_of_thousands_of_words_do_not_take_minutes() -> None:
    one = "the cat and the dog " * 1_000
    high, low = mark_differences(f"{one}sat", f"{one}ran")

    assert [(piece.text, piece.differs) for piece in high] == [(one, False), ("sat", True)]
    assert low[-1] == ("ran", True)


@settings(max_examples=40)
@given(st.text(), st.text())
def test_pieces_put_together_are_the_texts(one: str, other: str) -> None:
    for text, pieces in zip((one, other), mark_differences(one, other), strict=True):
        assert "".join(piece.text for piece in pieces) == text
        assert all(piece.text for piece in pieces)
    assert not any(piece.differs for piece in mark_differences(one, one)[0])
