"""Texts in figures: shown whole or cut to a width, and nothing in them unseen."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from nnd.metric.drawing.theme import FONT, SIZE

_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)

MINUS = "\u2212"

_LONGEST = 100
"""Characters; no column holds more, and measuring takes time."""


def text_width(text: str) -> float:
    """Return the width of a text in inches."""
    if not text:
        return 0.0
    width, _, _ = TextToPath().get_text_width_height_descent(
        text, FontProperties(family=FONT, size=SIZE), ismath=False
    )
    return float(width) / 72


def fit(text: str, inches: float) -> str:
    """Return as much of a text as is no wider than some inches."""
    text = text[:_LONGEST]
    if text_width(text) <= inches:
        return text
    while text and text_width(f"{text}…") > inches:
        text = text[:-1]
    return f"{text.rstrip()}…"


def widest(texts: Sequence[str], most: float) -> float:
    """Return the width of the widest text in inches, `most` where it is wider."""
    return min(most, max((text_width(text[:_LONGEST]) for text in texts), default=0.0))


def visible(text: str) -> str:
    """Return a text with a dot for each character that controls: breaks, turns, or is no letter."""
    return _CONTROLS.sub("·", text)


def spoken(value: str) -> str:
    """Return a category as people write it: wrong_fact is wrong fact."""
    return brief(visible(value.replace("_", " ")))


def brief(text: str) -> str:
    """Return a text with no more than its beginning and its end, if it is very long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 21]}…{text[-20:]}"


def short_names(models: Sequence[str]) -> list[str]:
    """Return names of models without organisation or folder, where that tells them apart."""
    whole = [brief(visible(model)) for model in models]
    last = [PurePosixPath(name).name or name for name in whole]
    return [
        short if last.count(short) == 1 else name for short, name in zip(last, whole, strict=True)
    ]


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Move places apart, in their order, until none is closer than `gap` to the next."""
    order = sorted(range(len(places)), key=lambda number: places[number])
    moved = list(places)
    for _ in range(50):
        for a, b in pairwise(order):
            overlap = gap - (moved[b] - moved[a])
            if overlap > 0:
                moved[a] -= overlap / 2
                moved[b] += overlap / 2
    return moved
