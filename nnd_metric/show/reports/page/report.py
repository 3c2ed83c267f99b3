"""Write a report: stored runs as one self-contained page, and its figures as files."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from os.path import commonpath
from pathlib import Path
from typing import Annotated

import polars as pl

from nnd.metric.data import PairData
from nnd.metric.numbers import short_names
from nnd.metric.show.drawing.svg import png, svg_file
from nnd.metric.show.reports.content.by_dataset import gather_each
from nnd.metric.show.reports.content.report_figures import draw_figures
from nnd.metric.show.reports.page.page import render
from nnd.schemas import (
    Printable,
    ScoringError,
    StoredAs,
    check_own,
    has_mark,
    replace_own,
    with_mark,
)


@dataclass(frozen=True, slots=True, repr=False)
class Report(Printable):
    """What was written.

    Attributes:
        models: The models in it.
        page: The page.
        size: Its size in bytes.
        figures: PNG and SVG files of the figures, if requested.
    """

    models: tuple[str, ...]
    page: Path
    size: Annotated[int, StoredAs("bytes")]
    figures: tuple[Path, ...]

    def headline(self) -> str:
        """Return the models of the report, and its path."""
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
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    day: date | None = None,
    command: str | None = None,
) -> Report:
    """Write one self-contained HTML page of stored results; no model is run.

    Args:
        results: Folders that `nnd evaluate` wrote, on one dataset or on several; the page has a
            part for each.
        out: Path of the page; an existing report is replaced.
        figures: Folder for a PNG and an SVG file of each figure; for several datasets, it gets a
            subfolder for each. It is made if it does not exist. Figures drawn by nnd are replaced
            unless they were changed since; other files are kept.
        data: The pairs that were scored (see `data.load_pairs`), or a list of several datasets:
            runs do not store texts, so without the pairs the page shows ids. The human scores that
            come with the pairs are used, too.
        human_scores: Human scores for one dataset, used in place of those of the data.
        systems: Model → system it stands for, if neither its id nor the run names it.
        families: Model → its family; a line joins the models of a family by size.
        by: Axes of slices, such as "error_category,length" (see `slice`); the page then has a part
            for these slices.
        splits: Only pairs of these splits; none means all that were scored.
        mixed_rules: Whether to show models that were scored by different protocols, between which
            nothing is tested, or by different rules of different versions (see `manner`).
        day: Date of the report, for the footer; without it, the same runs give the same bytes.
        command: The command line, for the footer.

    Returns:
        What was written.

    Raises:
        ScoringError: If a run cannot be read, the runs have different pairs, the data is not what
            was scored, or a name is unknown. Then nothing is written.
        NNDError: If a file exists at the path that nnd did not write, or that was changed since.

    Examples:
        nnd report run --data quiz_design-nnd --out report.html --figures figures
        nnd report runs/frank runs/summeval --data frank --data summeval
    """
    folders = [Path(each) for each in ([results] if isinstance(results, str | Path) else results)]
    if not folders:
        raise ScoringError("no run was given; name a folder that `nnd evaluate` wrote")
    page = Path(out)
    check_own(page, has_mark)
    if figures is not None and Path(figures).exists() and not Path(figures).is_dir():
        raise ScoringError(f"{figures}: is a file; name a folder with --figures")
    contents = gather_each(
        folders,
        data,
        human_scores=human_scores,
        systems=systems,
        families=families,
        by=by,
        splits=splits,
        mixed_rules=mixed_rules,
    )
    drawn = {name: (content, draw_figures(content)) for name, content in contents.items()}
    files = {page: with_mark(render([*drawn.values()], day, command).encode())}
    for name, (_, found) in drawn.items() if figures is not None else ():
        place = Path(figures or "", name.replace("/", "--"))
        for drawing in found.all():
            files[place / f"{drawing.name}.svg"] = svg_file(drawing)
            files[place / f"{drawing.name}.png"] = png(drawing)
    with contextlib.ExitStack() as stack:  # all files are checked before any is replaced
        for path, content in files.items():
            stack.enter_context(replace_own(path, has_mark)).write_bytes(content)
    models = dict.fromkeys(each.model for content in contents.values() for each in content.models)
    return Report(
        models=tuple(models),
        page=page,
        size=len(files[page]),
        figures=tuple(path for path in files if path != page),
    )
