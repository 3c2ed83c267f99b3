"""Scripts of texts: which are written without spaces between words, and which letters are ASCII.

Metrics for English cut words at spaces, or keep ASCII only: of other texts they see little or
nothing, and give the same number to all.
"""

import re

_WITHOUT_SPACES = {
    "Thai": "\u0e00-\u0e7f",
    "Lao": "\u0e80-\u0eff",
    "Tibetan": "\u0f00-\u0fff",
    "Burmese": "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f",
    "Khmer": "\u1780-\u17ff",
    "Japanese": "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d",
    "Chinese": "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",
}
"""Name → ranges of code points; kana are for Japanese alone, Chinese characters for both."""

CHARACTER = f"[{''.join(_WITHOUT_SPACES.values())}]"
"""Pattern of a character that is a word of its own."""

_PUNCTUATION = "\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"

CUT = f"[{''.join(_WITHOUT_SPACES.values())}{_PUNCTUATION}]"
"""Pattern of such a character, or of Chinese punctuation, around which tokens are cut."""

_CUT = re.compile(CUT)
_ASCII_WORD = re.compile(r"\w+")
_WORD = re.compile(rf"{CHARACTER}|(?:(?!{CHARACTER})\w)+")
_OF_SCRIPT = {name: re.compile(f"[{ranges}]") for name, ranges in _WITHOUT_SPACES.items()}
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")


def find_words(text: str) -> list[str]:
    """Return the words of a text: runs of letters, digits and underscores.

    A character of a script that is written without spaces is a word of its own.
    """
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def space_characters(text: str) -> str:
    """Put blanks around each character of a script without spaces, and its punctuation."""
    return text if text.isascii() else _CUT.sub(r" \g<0> ", text)


def script_without_spaces(text: str) -> str | None:
    """Return which script without spaces, or Korean, most letters of a text have; else None.

    Japanese mixes kana with Chinese characters, and is known by the kana.
    """
    if text.isascii():
        return None
    found = {name: len(pattern.findall(text)) for name, pattern in _OF_SCRIPT.items()}
    found["Korean"] = len(_HANGUL.findall(text))
    if found["Japanese"]:
        found["Japanese"] += found.pop("Chinese")
    most = max(found, key=lambda name: found[name])
    return most if 2 * found[most] > sum(map(str.isalpha, text)) else None


def is_mostly_ascii(text: str) -> bool:
    """Return whether at least half of the letters of a text are from a to z, or it has none."""
    if text.isascii():
        return True
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(map(str.isascii, letters)) >= len(letters)
