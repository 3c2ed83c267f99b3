"""A figure with the meaning of each mark and the numbers behind it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from nnd.metric.numbers import Interval, do_all_agree, in_brackets, percent


class FigureMark(NamedTuple):
    """The meaning of one mark of a drawing, in words and numbers.

    `model` is its number among those of the report; `category` is the column and the value of the
    slice whose pairs are behind the mark.
    """

    text: str
    model: int | None = None
    category: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure and its data.

    Attributes:
        name: Name of its files, and prefix of its ids.
        caption: The meaning of the marks, and caveats.
        data: The numbers that were drawn, one object per mark or row.
        marks: The meaning of marks, by id.
    """

    name: str
    title: str
    caption: str
    figure: Figure
    data: Sequence[dict[str, Any]]
    marks: dict[str, FigureMark] = field(default_factory=dict)

    def tag(self, artist: Artist, mark: FigureMark) -> None:
        """Give an artist a mark."""
        gid = f"mark-{len(self.marks)}"
        artist.set_gid(gid)
        self.marks[gid] = mark


def line_width(pass_rate: float, interval: Interval) -> float:
    """Return the thickness of an interval's line, in points: thin if all contexts agree."""
    return 0.5 if do_all_agree(pass_rate, interval) else 1.2


def rate_in_words(pass_rate: float, interval: Interval | None, n: int | None) -> str:
    """Return a pass rate with its interval and number of tests, if known."""
    of = "" if n is None else f" of {n:,}"
    return f"{percent(pass_rate)} %{in_brackets(interval)}{of}"
