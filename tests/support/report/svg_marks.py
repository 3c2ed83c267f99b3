"""Where the marks of a figure lie in its SVG, and what it says of them."""

import re
from typing import NamedTuple
from xml.etree import ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


class Found(NamedTuple):
    """A mark: what its title says, its place in points, and the style it is drawn in."""

    title: str
    x: float
    y: float
    style: str


def marks(svg: bytes) -> list[Found]:
    """Every mark of a drawing, in the order of drawing."""
    found = []
    for group in ET.fromstring(svg).iter(f"{SVG}g"):  # noqa: S314 - our own
        if group.get("class") != "mark":
            continue
        title = str(group.findtext(f"{SVG}title"))
        use = next(group.iter(f"{SVG}use"), None)
        if use is not None:
            place = (float(use.attrib["x"]), float(use.attrib["y"]))
            found.append(Found(title, *place, use.attrib["style"]))
        else:
            path = next(group.iter(f"{SVG}path"), None)
            if path is None:
                continue  # a name: texts are no marks
            start = re.match(r"M (\S+) (\S+)", path.attrib["d"])
            assert start
            found.append(Found(title, float(start[1]), float(start[2]), path.attrib["style"]))
    return found


def texts(svg: bytes) -> list[tuple[str, float, float]]:
    """Every text of a drawing with its place in points."""
    found = []
    for element in ET.fromstring(svg).iter(f"{SVG}text"):  # noqa: S314
        numbers = re.findall(r"-?[\d.]+", element.get("transform", ""))
        x, y = element.get("x"), element.get("y")
        place = (x, y) if x and y else (numbers[0], numbers[1])
        found.append((element.text or "", float(place[0]), float(place[1])))
    return found
