"""Caveats about a model's rates: baselines with similar rates, and further notes."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nnd.metric.numbers import (
    MATCHED_WITHIN,
    PICKING,
    Baseline,
    caveats,
    find_rivals,
    in_brackets,
    percent,
)
from nnd.metric.show.drawing.text_widths import MINUS
from nnd.metric.show.reports.content.report_models import ReportModel
from nnd.metric.show.reports.page.sheets import Sheet, sheet
from nnd.metric.show.tables.cells import points
from nnd.schemas import text_table

_HEADS = (
    "baseline with a similar rate",
    "passes, %",
    "lead of the model, points [95 %]",
    "verdict",
)
_OF_RATES = re.compile(r" passes \d+\.\d % of ")
"""Pattern of stored sentences about baselines, from any version of nnd."""


class Doubts(NamedTuple):
    """Caveats about one model's rates: baselines that it does not beat, and sentences."""

    model: ReportModel
    sheet: Sheet | None
    notes: Sequence[str]


def find_doubts(models: Sequence[ReportModel]) -> Iterator[Doubts]:
    """Yield the caveats of each model that has some."""
    for model in models:
        overall = model.rates.overall
        rivals = find_rivals(overall)
        notes = [*caveats(overall)[len(rivals) :]]  # those of the baselines come first
        matched = overall.length_matched
        lengths = rivals.keys() & {"shorter_wins", "longer_wins"}
        if not notes and lengths and matched and matched.pass_rate is not None:
            notes.append(
                f"On tests whose lengths match within {100 * MATCHED_WITHIN:.0f} %, it passes "
                f"{percent(matched.pass_rate)} %{in_brackets(matched.interval)} of "
                f"{matched.n:,} tests."
            )
        stored = model.facts.get("notes")
        others = map(str, stored) if isinstance(stored, list) else ()
        notes += [note for note in others if not _OF_RATES.search(note)]
        rows = [_row(name, baseline) for name, baseline in rivals.items()]
        if rows or notes:
            table = sheet(text_table(_HEADS, rows, right=_HEADS[1:3])) if rows else None
            yield Doubts(model, table, [*dict.fromkeys(notes)])


def _row(name: str, baseline: Baseline) -> tuple[str, ...]:
    lead = points(baseline.lead, baseline.lead_interval).replace("-", MINUS)
    verdict = "one context, so no interval"
    if baseline.lead_interval is not None:
        low, high = baseline.lead_interval
        verdict = "not significant" if low <= 0 <= high else "ahead"
    return PICKING[name], percent(baseline.with_coin), lead, verdict
