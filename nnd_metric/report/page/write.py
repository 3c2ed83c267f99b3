"""A report: stored runs as one page that opens anywhere, and its figures as files."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from os.path import commonpath
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.data import PairData
from nnd.metric.drawing import is_ours as is_drawn_by_nnd, png, short_names, svg_file
from nnd.metric.report.content import draw_figures, gather_each
from nnd.metric.report.page.page import Made, render
from nnd.schemas import ScoringError, Shown, check_own, replace_own


@dataclass(frozen=True, slots=True, repr=False)
class Report(Shown):
    """What was written.

    Attributes:
        models: The models in it.
        page: The page.
        size: Its size in bytes.
        figures: The figures, PNG and SVG of each; none where they were not asked for.
    """

    models: tuple[str, ...]
    page: Path
    size: int
    figures: tuple[Path, ...]

    def headline(self) -> str:
        """Return what the report is of, and where it is."""
        figures = ""
        if self.figures:
            figures = f", and {len(self.figures)} files of figures in {commonpath(self.figures)}"
        return (
            f"The report of {', '.join(short_names(self.models))} is in {self.page} "
            f"({self.size / 1e6:.1f} MB){figures}."
        )

    def table(self) -> None:
        """Return None: the tables are in the page."""

    def to_frame(self) -> pl.DataFrame:
        """Return a row per file: path, and kind (page or figure)."""
        rows = [(str(self.page), "page"), *((str(path), "figure") for path in self.figures)]
        return pl.DataFrame(rows, {"path": pl.String, "kind": pl.String}, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "models": list(self.models),
            "page": str(self.page),
            "bytes": self.size,
            "figures": [str(path) for path in self.figures],
        }


def report(
    results: str | Path | Sequence[str | Path],
    out: str | Path = "report.html",
    *,
    figures: str | Path | None = None,
    data: PairData | Sequence[PairData] | None = None,
    human_scores: PairData | None = None,
    systems: Mapping[str, str] | None = None,
    families: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    day: date | None = None,
    command: str | None = None,
) -> Report:
    """Write one self-contained HTML page of stored results; nothing is scored again.

    Args:
        results: Folders that `nnd evaluate` wrote, on one dataset or on several, each of which has
            a part of the page.
        out: The page; an existing report is replaced.
        figures: Folder for a PNG and an SVG of each figure, of several datasets for a folder of
            each; made where there is none. Figures that nnd drew are replaced, and other files
            stay.
        data: The pairs that were scored (see `data.load_pairs`), or a list of several datasets:
            runs keep no texts, so without them the page shows ids. The human scores that come with
            them count as well.
        human_scores: Human scores of one dataset; they count instead.
        systems: Model → system it stands for, where neither its id nor the run says it.
        families: Model → family it is a size of; its sizes are joined by a line.
        by: Axes that the pairs are sliced by, such as "error_category,length" (see `slice`); the
            page then has a part for their slices.
        day: When it is made, for its foot; without it, the same runs give the same bytes.
        command: What was typed to make it, for its foot.

    Returns:
        What was written.

    Raises:
        ScoringError: If a run cannot be read, the runs are of different pairs, the data is not what
            was scored, or a name is unknown. Nothing is half-written.
        NNDError: If a file is in the way that nnd did not write.
    """
    folders = [Path(each) for each in ([results] if isinstance(results, str | Path) else results)]
    if not folders:
        raise ScoringError("there is no result to report on; name a folder of `nnd evaluate`")
    page = Path(out)
    check_own(page, _is_report)
    if figures is not None and Path(figures).exists() and not Path(figures).is_dir():
        raise ScoringError(f"{figures}: is a file; name a folder with --figures")
    contents = gather_each(
        folders, data, human_scores=human_scores, systems=systems, families=families, by=by
    )
    drawn = {name: (content, draw_figures(content)) for name, content in contents.items()}
    files = {page: render([*drawn.values()], Made(day, command)).encode()}
    for name, (_, found) in drawn.items() if figures is not None else ():
        place = Path(figures or "", name.replace("/", "--"))
        for drawing in found.all():
            files[place / f"{drawing.name}.svg"] = svg_file(drawing)
            files[place / f"{drawing.name}.png"] = png(drawing)
    _write(page, files)
    models = dict.fromkeys(each.model for content in contents.values() for each in content.models)
    return Report(
        models=tuple(models),
        page=page,
        size=len(files[page]),
        figures=tuple(path for path in files if path != page),
    )


def _write(page: Path, files: Mapping[Path, bytes]) -> None:
    """Write files, each whole or not at all, and none before all fit beside what they replace."""
    with contextlib.ExitStack() as stack:
        for path, content in files.items():
            is_ours = _is_report if path == page else is_drawn_by_nnd
            stack.enter_context(replace_own(path, is_ours)).write_bytes(content)


def _is_report(head: bytes) -> bool:
    """Whether a file that begins so is a page of ours (`report.html.jinja`)."""
    return b'\n<meta name="generator" content="nnd ' in head
