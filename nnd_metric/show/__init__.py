"""What people look at: tables, figures and reports; it alone knows rich and matplotlib."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .drawing.grid import (
        LegendEntry as LegendEntry,
        draw_chance as draw_chance,
        panels as panels,
    )
    from .drawing.marks import (
        Drawing as Drawing,
        FigureMark as FigureMark,
        rate_in_words as rate_in_words,
    )
    from .drawing.svg import (
        png as png,
        svg_file as svg_file,
    )
    from .drawing.theme import (
        PAPER as PAPER,
        look as look,
        style as style,
    )
    from .reports.page.report import (
        report as report,
    )
    from .tables.pass_rates import (
        failure_table as failure_table,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
