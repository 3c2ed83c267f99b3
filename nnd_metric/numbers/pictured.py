"""Results that have a picture."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from nnd.schemas import ScoringError, Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nnd.metric.show import Drawing


class Pictured(Shown):
    """A result that a notebook shows with a picture.

    The drawing code is imported when needed: matplotlib is slow to load, and scoring does not use
        it.
    """

    __slots__ = ()

    @abstractmethod
    def drawing(self) -> "Drawing | None":
        """Return the picture with its caption and numbers, or None."""

    def figure(self) -> "Figure":
        """Return the picture as a matplotlib figure.

        Raises:
            ScoringError: If there is nothing to draw.
        """
        drawing = self.drawing()
        if drawing is None:
            raise ScoringError(
                "there is nothing to draw, because all numbers of the figure are undefined"
            )
        return drawing.figure

    def svg(self) -> str | None:
        """Return the picture as an SVG element, or None if there is nothing to draw."""
        from nnd.metric.show import svg_element  # noqa: PLC0415 - see above

        drawing = self.drawing()
        return None if drawing is None else svg_element(drawing)
