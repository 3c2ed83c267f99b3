"""Texts in figures: their widths, cutting to a width, and spacing."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from nnd.metric.numbers import LONGEST
from nnd.metric.show.drawing.theme import FONT, SIZE

MINUS = "\u2212"


@lru_cache(maxsize=4096)
def text_width(text: str) -> float:
    """Return the width of a text in inches."""
    if not text:
        return 0.0
    width, _, _ = TextToPath().get_text_width_height_descent(
        text, FontProperties(family=FONT, size=SIZE), ismath=False
    )
    return float(width) / 72


def fit(text: str, inches: float) -> str:
    """Return the beginning of a text that fits a width in inches."""
    text = text[:LONGEST]
    if text_width(text) <= inches:
        return text
    while text and text_width(f"{text}…") > inches:
        text = text[:-1]
    return f"{text.rstrip()}…"


def widest(texts: Sequence[str], most: float) -> float:
    """Return the width of the widest text in inches, but at most `most`."""
    return min(most, max((text_width(text[:LONGEST]) for text in texts), default=0.0))


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
