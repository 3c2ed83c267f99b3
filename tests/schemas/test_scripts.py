"""Which script a text has, and what its words are."""

import pytest

from nnd.schemas.words.scripts import find_words, is_mostly_ascii, script_without_spaces


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("渡轮 迟到", "Chinese"),
        ("東京です", "Japanese"),
        ("東京都庁舎の", "Japanese"),  # one kana tells it from Chinese
        ("서울 시", "Korean"),
        ("กรุงเทพ", "Thai"),
        ("မြန်မာ", "Burmese"),
        ("ភ្នំពេញ", "Khmer"),
        ("the 渡轮 ferry", None),
        ("мир", None),
        ("日本 means Japan", None),
        ("2024", None),
        ("", None),
    ],
)
def test_script(text: str, script: str | None) -> None:
    assert script_without_spaces(text) == script


@pytest.mark.parametrize(
    ("text", "is_ascii"),
    [
        ("The café", True),
        ("Đường phố Hà Nội", True),  # Vietnamese: 9 of 13
        ("мир", False),
        ("हिन्दी", False),
        ("渡轮 GPT", True),  # 3 of 5
        ("2024 — ☃", True),  # no letter
        ("", True),
    ],
)
def test_mostly_ascii(text: str, *, is_ascii: bool) -> None:
    assert is_mostly_ascii(text) is is_ascii


def test_words() -> None:
    assert find_words("The cat_1, 日本 and x東y!") == [
        "The",
        "cat_1",
        "日",
        "本",
        "and",
        "x",
        "東",
        "y",
    ]
    assert find_words("мир и серп") == ["мир", "и", "серп"]
