"""What every result that shows itself must do, in a terminal as in a notebook."""

from xml.etree import ElementTree as ET

from matplotlib.figure import Figure

from nnd.metric.numbers import Result
from nnd.schemas import Printable

LONGEST = 5_000
"""Characters that a result prints; the fields of one were 17,000."""


def check_shown(result: Printable) -> None:
    """Check that a result prints its headline and its table, and no more."""
    headline = result.headline()
    assert headline.endswith(".")
    assert "\n" not in headline
    assert repr(result) == str(result)
    assert str(result).startswith(headline)
    assert len(str(result)) < LONGEST
    html = result._repr_html_()
    assert html.startswith("<p>")
    assert ("<table>" in html) == (result.table() is not None)


def check_pictured(result: Result) -> list[str]:
    """Check that a result shows its picture in a notebook; return what its marks say."""
    check_shown(result)
    assert isinstance(result.figure(), Figure)
    svg = result.svg()
    assert svg is not None
    assert result._repr_html_().endswith(svg)
    root = ET.fromstring(svg)  # noqa: S314 - our own
    name = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{name}svg"
    assert root.find(f".//{name}style") is None  # it would restyle the whole notebook
    marks = [each for each in root.iter() if each.get("class") == "mark"]
    return [str(each.findtext(f"{name}title")) for each in marks]
