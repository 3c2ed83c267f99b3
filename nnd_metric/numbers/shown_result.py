"""A result of the metric: its numbers and sentences; `show` makes its tables and its picture."""

from abc import abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nnd.metric.data import to_dataset
from nnd.schemas import MissingExtraError, Printable, ScoringError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import datasets
    import polars as pl
    from matplotlib.figure import Figure
    from rich.table import Table


class Result(Printable):
    """A result that `show` knows by its type: how its tables and its picture look.

    Numbers know nothing of rich and matplotlib, which are slow to load: they are imported when a
    person looks at the result.
    """

    __slots__ = ()

    @abstractmethod
    def to_frame(self) -> "pl.DataFrame":
        """Return the numbers as rows."""

    def to_dataset(self) -> "datasets.Dataset":
        """Return the numbers as rows of a `datasets.Dataset`."""
        return to_dataset(self.to_frame())

    def table(self) -> "Table | None":
        """Return the numbers of the headline, or None if there are none."""
        shown: Table | None = _show("result_tables").table(self)
        return shown

    def remarks(self) -> "Sequence[Table | str]":
        """Return what to know before believing the numbers."""
        shown: Sequence[Table | str] = _show("result_tables").remarks(self)
        return shown

    def details(self) -> "Sequence[Table | str]":
        """Return tables and lines for those who want to know more."""
        shown: Sequence[Table | str] = _show("result_tables").details(self)
        return shown

    def drawing(self) -> Any:  # noqa: ANN401 - `show.Drawing`, which numbers do not import
        """Return the picture with its caption and numbers, or None."""
        return _show("result_figures").drawing(self)

    def figure(self) -> "Figure":
        """Return the picture as a matplotlib figure.

        Raises:
            ScoringError: If there is nothing to draw.
        """
        drawing = self.drawing()
        if drawing is None:
            raise ScoringError(
                "figure.nothing-to-draw",
                "there is nothing to draw, because all numbers of the figure are undefined",
            )
        figure: Figure = drawing.figure
        return figure

    def svg(self) -> str | None:
        """Return the picture as an SVG element, or None without a picture or matplotlib."""
        try:
            drawing = self.drawing()
        except MissingExtraError:
            return None
        element: str | None = drawing and _show("drawing.svg").svg_element(drawing)
        return element


def _show(module: str) -> Any:  # noqa: ANN401 - a module
    return import_module(f"nnd.metric.show.{module}")
