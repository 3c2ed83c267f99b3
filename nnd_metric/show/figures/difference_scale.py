"""The scale of a figure of differences: 0 in the middle, the leader on either side."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from nnd.metric.show.drawing.text_widths import MINUS, fit
from nnd.metric.show.drawing.theme import COLUMN, MUTED, RULE

MARGIN, TOP = 0.04, 0.24
"""Margins in inches: left and right of the figure, and above the first row."""

_RIGHT = 0.42


class Scale(NamedTuple):
    """Places of differences: that of 0 in inches, inches per 1, and the largest difference."""

    zero: float
    unit: float
    reach: float

    def at(self, difference: float) -> float:
        """Return the place of a difference."""
        return self.zero + difference * self.unit


def scale_of(found: Sequence[Mapping[str, Any]], left: float, key: str = "difference") -> Scale:
    """Return a scale with room for all differences and their intervals.

    Args:
        found: Rows with `interval` and the difference itself.
        left: Left limit of the scale, in inches.
        key: Key of the difference.
    """
    bounds = [abs(bound) for each in found for bound in each["interval"] or [each[key]]]
    largest = max(bounds, default=0)
    reach = next(
        step for step in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1) if largest <= step or step == 1
    )
    half = (COLUMN - _RIGHT - left) / 2
    return Scale(left + half, half / reach, reach)


def draw_ground(axes: Axes, scale: Scale, names: tuple[str, str], bottom: float) -> None:
    """Draw the lines and numbers of a scale.

    Args:
        axes: The axes to draw on.
        scale: The scale.
        names: The leader to the right, and the leader to the left.
        bottom: End of the rows.
    """
    for share in (-1, -0.5, 0, 0.5, 1):
        at = scale.at(share * scale.reach)
        axes.plot([at] * 2, [TOP, bottom], color=RULE if share else MUTED, lw=0.5, zorder=0)
        text = f"{100 * share * scale.reach:+g}" if share else "0"
        text = text.replace("-", MINUS)
        axes.text(at, bottom + 0.06, text, ha="center", va="center_baseline", color=MUTED)
    where = "difference of pass rates, points"
    axes.text(scale.zero, bottom + 0.2, where, ha="center", va="center_baseline", color=MUTED)
    axes.text(COLUMN - MARGIN, 0.1, "n", ha="right", va="center_baseline", color=MUTED)
    right, left = names
    room = scale.reach * scale.unit
    at = scale.zero
    axes.text(at - 0.05, 0.1, f"← {fit(left, room)}", ha="right", va="center_baseline", color=MUTED)
    axes.text(at + 0.05, 0.1, f"{fit(right, room)} →", va="center_baseline", color=MUTED)
