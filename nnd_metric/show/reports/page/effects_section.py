"""The part of the page about the sets of a suite."""

from typing import Any

from nnd.metric.numbers import Effects
from nnd.metric.show.reports.page.sheets import sheet
from nnd.metric.show.tables.effects import category_effects_table, effects_table


def effects_part(effects: Effects | None) -> dict[str, Any] | None:
    """Return the section of a suite for the template, or None without a suite."""
    if effects is None:
        return None
    suites = effects.to_dict()
    return {
        "headline": effects.headline(),
        "remarks": effects.remarks(),
        "sheet": sheet(effects_table(suites)),
        "categories": sheet(category_effects_table(suites)),
    }
