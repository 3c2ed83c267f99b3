"""Drawings as files: PNG and SVG for papers, and SVG that takes its colours from a page.

The SVG keeps text as text, describes each mark in words, and is identical byte for byte for the
same numbers.
"""

import io
import re
import warnings
from xml.etree import ElementTree as ET

from nnd.metric.numbers import visible
from nnd.metric.show.drawing.marks import Drawing, FigureMark
from nnd.metric.show.drawing.theme import FONT, VARIABLES, style
from nnd.schemas import ScoringWarning, with_mark

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_DROPPED = {f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"}
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_THEMED = {colour: f"var(--{name})" for colour, name in VARIABLES.items()}
_INHERITED = "stroke-linejoin:round;stroke-linecap:butt"
_LOOKS = f"*{{{_INHERITED}}}"
DPI = 300
_SVG_MARK, _PNG_MARK = "<!-- Drawn by nnd -->", "Drawn by nnd"


def png(drawing: Drawing) -> bytes:
    """Return a drawing as a PNG file, 300 dots per inch, with the digest of its content.

    Letters that the font lacks become boxes, with a warning; the SVG keeps them.
    """
    buffer = io.BytesIO()
    with style(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drawing.figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": _PNG_MARK})
    if any("missing from" in str(each.message) for each in caught):
        warnings.warn(
            f"{drawing.name}.png: the font lacks some letters of the labels; use "
            f"{drawing.name}.svg, which has them",
            ScoringWarning,
            stacklevel=2,
        )
    return with_mark(buffer.getvalue())


def svg_file(drawing: Drawing) -> bytes:
    """Return a drawing as an SVG file, with the digest of its content."""
    root = _tree(drawing)
    ET.SubElement(root, "style").text = _LOOKS
    text = ET.tostring(root, encoding="unicode")
    return with_mark(f'<?xml version="1.0" encoding="utf-8"?>\n{_SVG_MARK}\n{text}\n'.encode())


def svg_element(drawing: Drawing) -> str:
    """Return a drawing as an SVG element in fixed colours, for any page."""
    root = _tree(drawing)
    root.set("style", _INHERITED)  # a style sheet would apply to the whole page
    return ET.tostring(root, encoding="unicode")


def svg_inline(drawing: Drawing, *, prefix: str = "") -> str:
    """Return a drawing as an SVG element of a page, its colours as CSS variables.

    The page's style sheet defines the variables (`theme.VARIABLES`) and `--figure-font`.
    """
    root = _tree(drawing, prefix)
    del root.attrib["width"], root.attrib["height"], root.attrib["xmlns"]
    for element in root.iter():
        for name in ("style", "fill", "stroke"):
            if name in element.attrib:
                value = element.attrib[name].replace(f"'{FONT}'", "var(--figure-font)")
                element.set(name, _COLOUR.sub(lambda c: _THEMED.get(c[0], c[0]), value))
    return ET.tostring(root, encoding="unicode", short_empty_elements=False)


def _tree(drawing: Drawing, prefix: str = "") -> ET.Element:
    """Return matplotlib's SVG without metadata, with ids that are unique to the drawing."""
    buffer = io.StringIO()
    with style():
        drawing.figure.savefig(
            buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None}
        )
    root = ET.fromstring(buffer.getvalue())  # noqa: S314 - our own
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in _DROPPED:
                parent.remove(child)
    for element in root.iter():
        mark = drawing.marks.get(element.get("id", ""))
        _rename(element, f"{prefix}{drawing.name}")
        if mark is not None:
            _explain(element, mark)
    _entitle(root, drawing.title)
    root.set("xmlns", _SVG)
    root.set("role", "img")
    root.set("aria-label", drawing.title)
    return root


def _rename(element: ET.Element, prefix: str) -> None:
    """Remove name spaces, and add `prefix` to every id and every reference to one."""
    element.tag = element.tag.rpartition("}")[2]
    for name, value in list(element.attrib.items()):
        del element.attrib[name]
        if name == f"{{{_XLINK}}}href":
            element.set("href", f"#{prefix}-{value[1:]}")
        elif name == "id":
            element.set("id", f"{prefix}-{value}")
        else:
            element.set(name, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))


def _entitle(element: ET.Element, text: str) -> None:
    title = ET.Element("title")
    title.text = text
    element.insert(0, title)


def _explain(element: ET.Element, mark: FigureMark) -> None:
    _entitle(element, mark.text)
    element.set("class", "mark")
    if mark.model is not None:
        element.set("data-model", str(mark.model))
    if (
        mark.category is not None and visible(mark.category[1]) == mark.category[1]
    ):  # XML can hold it
        element.set("data-column", mark.category[0])
        element.set("data-value", mark.category[1])
