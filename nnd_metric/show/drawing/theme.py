"""The look of every figure: colours, type, the width of a paper's column.

Models differ in colour and shape. The colours are those of Okabe and Ito (2008, Color universal
design), without the yellow, which fades on white; six colours and seven shapes make 42 different
marks. On a page every colour becomes a variable of its style sheet, so that one drawing serves
light and dark mode.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLUMN = 3.3
"""Width of one column of a paper, inches."""

PAGE = 6.9
"""Width of two columns, for large figures."""

SIZE = 7.0
"""Size of all text, in points."""

INK, MUTED, RULE, PAPER = "#1b1b1f", "#66666e", "#dcdce0", "#ffffff"
ABOVE, BELOW = "#58b5ea", "#e8a002"
"""Colours of a heat map's cells above and below chance."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GLYPHS = "●■▲◆▼✚✖"
"""The markers as letters."""

VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    PAPER: "paper",
    ABOVE: "above",
    BELOW: "below",
    **{colour: f"model-{number}" for number, colour in enumerate(COLOURS)},
}
"""Names of the colours in the page's style sheet."""

FONT = "DejaVu Sans"
"""This font comes with matplotlib, so widths are the same everywhere."""

_RC: dict[Any, Any] = {
    "font.family": FONT,
    "font.size": SIZE,
    "axes.titlesize": SIZE,
    "axes.labelsize": SIZE,
    "xtick.labelsize": SIZE,
    "ytick.labelsize": SIZE,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "axes.linewidth": 0.5,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": PAPER,
    "lines.solid_capstyle": "butt",
    "text.parse_math": False,  # a $ in a name is a $
    "svg.fonttype": "none",
    "svg.hashsalt": "nnd",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw and save in our style, and restore the caller's settings of matplotlib at the end."""
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*missing from font")  # `png` warns once
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def look(number: int) -> tuple[str, str]:
    """Return the colour and the shape of a model, by its place among them."""
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure of a size in inches, to draw on in inches from the top left corner."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    return figure, axes


def axes_at(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes whose place and size are given in inches from the top left corner."""
    whole, tall = figure.get_size_inches()
    place = (left / whole, 1 - (top + height) / tall, width / whole, height / tall)
    return figure.add_axes(place)
