"""A figure with what it shows: what each mark stands for, and the numbers behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from nnd.metric.statistics import do_all_agree, percent


class Mark(NamedTuple):
    """What one mark of a drawing stands for.

    Attributes:
        text: In words and numbers.
        model: Number of the model among those of the report, or None.
        category: Column and value of the slice whose pairs are behind it, or None.
    """

    text: str
    model: int | None = None
    category: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure and what it shows.

    Attributes:
        name: What its files are called, and the prefix of its ids.
        title: A line of words.
        caption: What the marks mean, and what to keep in mind.
        figure: The figure.
        data: The numbers that were drawn, one object per mark or row.
        marks: What marks stand for, by id.
    """

    name: str
    title: str
    caption: str
    figure: Figure
    data: Sequence[dict[str, Any]]
    marks: dict[str, Mark] = field(default_factory=dict)

    def tag(self, artist: Artist, mark: Mark) -> None:
        """Say what an artist stands for."""
        gid = f"mark-{len(self.marks)}"
        artist.set_gid(gid)
        self.marks[gid] = mark


def line_width(rate: Mapping[str, Any]) -> float:
    """Return how thick the line of an interval is, in points: thin where all contexts agree."""
    return 0.5 if do_all_agree(rate) else 1.2


def rate_in_words(rate: Mapping[str, Any]) -> str:
    """Return a pass rate with its interval and n, if known (`results.Rate.to_dict`)."""
    if rate["pass_rate"] is None:
        return "no tests"
    bounds = rate["interval"]
    interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    of = "" if rate["n"] is None else f" of {rate['n']:,}"
    return f"{percent(rate['pass_rate'])} %{interval}{of}"
