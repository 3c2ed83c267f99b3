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
    """Show stored runs as one HTML page.

    The page works offline and needs no other file. No model is run. With runs of several datasets,
    the page has a summary and a part for each dataset.

    Args:
        results: Folders that `nnd evaluate` wrote.
        out: Path of the page; an existing report is replaced.
        figures: Folder for a PNG and an SVG file of each figure; with several datasets, it gets a
            subfolder for each.
        data: The pairs that were scored, because a run does not store their texts. None means ids
            instead of texts.
        human_scores: Your own human scores for one dataset: a Parquet file, or data that comes with
            them. None means those that come with the data.
        systems: The human-judged system that a model stands for, if its id does not name it. In
            Python, model → system; with several datasets, it applies to those with such a system.
        families: Model family; a line joins the models of a family by size. In Python, model →
            family.
        by: Also show slices of the pairs, by the axes of `nnd slice`, such as length.
        splits: Only pairs of these splits of the data. Empty means all that were scored.
        mixed_rules: Whether to also take models that were scored by different protocols, or by
            different rules of different nnd versions. Across protocols there are no p-values and no
            agreement, except for one and the same model.
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
        raise ScoringError(
            "input.missing", "no run was given", remedy="name a folder that `nnd evaluate` wrote"
        )
    page = Path(out)
    check_own(page, has_mark)
    if figures is not None and Path(figures).exists() and not Path(figures).is_dir():
        raise ScoringError("place.wrong-kind", "is a file", figures, "name a folder with --figures")
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
