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
        Mark as Mark,
        rate_in_words as rate_in_words,
    )
    from .drawing.svg import (
        png as png,
        svg_file as svg_file,
    )
    from .drawing.text_widths import (
        fit as fit,
        spread as spread,
        text_width as text_width,
    )
    from .drawing.theme import (
        PAPER as PAPER,
        look as look,
        style as style,
    )
    from .figures.agreement import (
        draw_agreement as draw_agreement,
    )
    from .figures.changes import (
        draw_effects as draw_effects,
    )
    from .figures.comparison import (
        draw_comparison as draw_comparison,
    )
    from .figures.extrapolation import (
        draw_extrapolation as draw_extrapolation,
    )
    from .figures.forest import (
        draw_forest as draw_forest,
    )
    from .figures.groups import (
        RateGroup as RateGroup,
    )
    from .figures.heat_map import (
        draw_heat_map as draw_heat_map,
    )
    from .figures.points import (
        JudgedRate as JudgedRate,
        Points as Points,
    )
    from .figures.scaling import (
        draw_scaling as draw_scaling,
        in_short as in_short,
    )
    from .reports.content.packed_pairs import (
        MOST_PAIRS as MOST_PAIRS,
    )
    from .reports.page.report import (
        report as report,
    )
    from .tables.agreement import (
        agreement_notes as agreement_notes,
        correlations_table as correlations_table,
        extrapolation_tables as extrapolation_tables,
        points_table as points_table,
    )
    from .tables.comparisons import (
        ahead_table as ahead_table,
        comparison_table as comparison_table,
        rates_table as rates_table,
        verdict_table as verdict_table,
    )
    from .tables.pass_rates import (
        baselines_table as baselines_table,
        counts_table as counts_table,
        failure_table as failure_table,
        pass_rate_table as pass_rate_table,
        slices_table as slices_table,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
