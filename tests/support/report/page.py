"""A report as a browser takes it in: its elements, its texts, what it embeds."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from nnd.metric.show.reports.page.report import report


class Page(HTMLParser):
    """What is in a page.

    Attributes:
        elements: Tag and attributes of every element, in order.
        text: All that can be read, and the texts of scripts and styles in `raw`.
        raw: Texts of script, style elements, by their place among them.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.raw: list[str] = []
        self.html = path.read_text(encoding="utf-8")
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.raw.append("")

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in ("script", "style") and self.cdata_elem:
            self.raw[-1] += data
        else:
            self.text += data

    @property
    def numbers(self) -> dict[str, list[dict[str, Any]]]:
        """The numbers behind every figure."""
        found: dict[str, list[dict[str, Any]]] = json.loads(self._embedded("numbers"))
        return found

    @property
    def pairs(self) -> dict[str, Any]:
        """The pairs."""
        packed = gzip.decompress(base64.b64decode(self._embedded("packed")))
        found: dict[str, Any] = json.loads(packed)
        return found

    def words(self) -> str:
        """All that can be read, on one line."""
        return re.sub(r"\s+", " ", self.text)

    def _embedded(self, name: str) -> str:
        places = [attrs.get("id") for tag, attrs in self.elements if tag in ("script", "style")]
        return self.raw[places.index(name)]


def page_of(folder: Path, runs: Path | list[Path], **options: Any) -> Page:
    """What a report of runs holds, which is written to a folder."""
    report(runs, folder / "report.html", **options)
    return Page(folder / "report.html")
